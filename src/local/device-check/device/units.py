# SPDX-License-Identifier: MIT
"""Unit gates: the shims run the carried cases, and the results are held against the carried float64 references as
src/verification/gates/unit-compare.ts does."""

import array
import os
import struct

import machine
from measures import distance, doubles, nmse
from subject import finding

CODES = {"f": ("f", 4), "d": ("d", 8), "i": ("i", 4), "u": ("B", 1)}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise EOFError
        self.at += count
        return self.data[self.at - count : self.at]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def text(self):
        return self.take(self.u32()).decode("utf-8", "replace")

    def tensor(self):
        kind = chr(self.u32())
        shape = [self.u32() for _ in range(self.u32())]
        count = 1
        for size in shape:
            count *= size
        code, width = CODES[kind]
        data = self.take(count * width)
        return {"kind": kind, "shape": shape, "bytes": data, "code": code, "width": width}

    def result(self):
        failure = self.text()
        outputs = {}
        for _ in range(self.u32()):
            name = self.text()
            outputs[name] = self.tensor()
        return failure[1:] if failure else None, outputs


def read_results(data):
    """As many as the file holds whole: a crash leaves the rest unwritten."""
    reader, results = Reader(data), []
    try:
        while reader.at < len(data):
            results.append(reader.result())
    except (EOFError, KeyError, OverflowError):
        pass
    return results


def values(tensor):
    if tensor["kind"] == "d":
        return doubles(tensor["bytes"])
    items = array.array(tensor["code"])
    items.frombytes(tensor["bytes"])
    return items


def compare(contract, check, wanted, result):
    failure, outputs = result
    if failure is not None:
        return [finding(contract, f"{check['caseId']}: it threw: {failure[:300]}")]
    for name, reference in wanted.items():
        got = outputs.get(name)
        if got is None or got["shape"] != reference["shape"]:
            shape = "no such output" if got is None else str(got["shape"])
            message = f"{check['caseId']}: {name} has {shape} instead of {reference['shape']}"
            return [finding(contract, message)]
        message = compare_tensor(check, reference, got)
        if message is not None:
            return [finding(contract, f"{check['caseId']}: {name}: {message}", inputs=check["inputs"])]
    return []


def compare_tensor(check, reference, got):
    if check["exact"] or got["kind"] != "f":
        same = as_f32(reference) if got["kind"] == "f" else reference["bytes"]
        return None if same == got["bytes"] or same_numbers(same, got) else "differs from what is exactly known"
    wanted, found = list(values(reference)), list(values(got))
    for at, value in enumerate(wanted):
        # What is infinite or NaN in the reference must be the same here.
        if value - value != 0 and (value == found[at] or (value != value and found[at] != found[at])):
            wanted[at] = found[at] = 0.0
    part = distance(wanted, found)
    if part["notFinite"] is not None:
        return f"expected {wanted[part['notFinite']]} got {found[part['notFinite']]} at {part['notFinite']}"
    error = nmse([part])
    if error <= check["nmse"] and part["maxAbs"] <= check["maxAbs"]:
        return None
    at = part["at"]
    return (
        f"expected {wanted[at]} got {found[at]} at {at}; NMSE {error:.2e} (limit {check['nmse']}), "
        f"max |Δ| {part['maxAbs']:.2e} (limit {check['maxAbs']})"
    )


def same_numbers(wanted, got):
    """The same bits, but for those of a NaN."""
    if got["kind"] != "f" or len(wanted) != len(got["bytes"]):
        return False
    pairs = zip(struct.iter_unpack("<4s", wanted), struct.iter_unpack("<4s", got["bytes"]))
    different = [struct.unpack("<2f", left + right) for (left,), (right,) in pairs if left != right]
    return all(left != left and right != right for left, right in different)


def as_f32(reference):
    return array.array("f", values(reference)).tobytes()


def compare_row(contract, check, whole, alone, row):
    """A row that runs alone gives the very bits that it gives among others."""
    if alone[0] is not None:
        return [finding(contract, f"{check['caseId']}: row {row} alone threw: {alone[0][:300]}")]
    for name, tensor in whole[1].items():
        single = alone[1].get(name)
        if single is None or tensor["shape"][:1] != [check["rows"]] or single["shape"][:1] != [1]:
            continue
        size = len(tensor["bytes"]) // check["rows"]
        if tensor["bytes"][row * size : (row + 1) * size] != single["bytes"]:
            message = f"{check['caseId']}: {name}: row {row} differs alone and among {check['rows']} rows"
            return [finding(contract, message)]
    return []


def run_unit(bundle, unit, binary, scratch, limit):
    """Findings of one program; figures say how many cases were compared."""
    contract = unit["contract"]
    results_file = os.path.join(scratch, "results")
    if os.path.exists(results_file):
        os.remove(results_file)
    code, text = machine.run([binary, os.path.join(bundle, unit["cases"]), results_file], limit)
    results = read(results_file)
    references = read(os.path.join(bundle, unit["wanted"]))
    findings, at = [], 0
    for check, (_, wanted) in zip(unit["checks"], references):
        if at + len(check["alone"]) >= len(results):
            how = "by its limit" if code is None else f"with exit code {code}"
            message = f"{check['caseId']}: the process ended {how}: {text.strip()[-400:]}"
            return [*findings, finding(contract, message)], at
        whole = results[at]
        findings += compare(contract, check, wanted, whole)
        if whole[0] is None:
            rows = [
                problem
                for index, row in enumerate(check["alone"])
                for problem in compare_row(contract, check, whole, results[at + 1 + index], row)
            ]
            findings += rows[:1]
        at += 1 + len(check["alone"])
    if code != 0:
        findings.append(finding(contract, f"the program ends with exit code {code}"))
    return findings, at


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        return read_results(file.read())
