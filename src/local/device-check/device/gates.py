# SPDX-License-Identifier: MIT
"""The gates of an engine that need its process alone: what src/verification/gates asks, asked here over the protocol.

Every gate takes a Subject and gives (findings, figures). Ids that the oracle worked through come with the bundle; all
other ids are drawn here, from the run's seed. Here stand those that compare with what the bundle carries."""

import os
import shutil

from measures import argmax, cosine, distance, divergence, doubles, first_difference, median, nmse, show
from protocol import floats
from self_gates import check_determinism, check_edges, check_equivalence
from subject import finding

MAX_ABS, MEAN_KLD = 1e-3, 1e-6
BUCKETS, BUCKET_FLOOR, BUCKET_FACTOR = 8, 1e-8, 3
COSINE, STATE_NMSE, JUMP_FLOOR, JUMP_FACTOR = 0.9999, 1e-9, 1e-11, 30


# -- logits and trace: against the float64 oracle ------------------------------------------------------------------


def check_logits(subject):
    width = subject.constants["vocabSize"]
    ids = subject.spec["oracle"]["ids"][: subject.positions]
    oracle = doubles(subject.read("logits"))
    wanted = [oracle[width * row : width * (row + 1)] for row in range(len(ids))]
    with subject.open() as engine:
        got = [floats(row) for row in engine.logits(ids)]
    parts = [distance(left, right) for left, right in zip(wanted, got)]
    broken = next((row for row, part in enumerate(parts) if part["notFinite"] is not None), None)
    if broken is not None:
        at = parts[broken]["notFinite"]
        where = {"position": broken, "token": at, "wanted": wanted[broken][at], "got": show(got[broken][at])}
        return [finding("head.logits", "a logit is not finite", **where)], {"positions": len(ids)}
    klds = [divergence(left, right) for left, right in zip(wanted, got)]
    agreement = sum(argmax(left) == argmax(right) for left, right in zip(wanted, got)) / len(ids)
    figures = {
        "positions": len(ids),
        "maxAbs": max(part["maxAbs"] for part in parts),
        "meanKld": show(sum(klds) / len(klds)),
        "top1Agreement": agreement,
        "nmse": nmse(parts),
    }
    return judge_logits(subject, figures, parts, klds), figures


def judge_logits(subject, figures, parts, klds):
    fidelity = subject.spec["fidelity"]
    kld_limit = min(MEAN_KLD, fidelity["meanKld"])
    findings = []
    if not figures["maxAbs"] <= MAX_ABS:
        findings.append(finding("head.logits", f"logits are off by {figures['maxAbs']:.2e} (limit {MAX_ABS})"))
    if not (isinstance(figures["meanKld"], float) and figures["meanKld"] <= kld_limit):
        findings.append(finding("head.logits", f"mean KLD is {figures['meanKld']} (limit {kld_limit})"))
    if not figures["top1Agreement"] >= fidelity["top1Agreement"]:
        message = f"top-1 agreement is {figures['top1Agreement']} (goal {fidelity['top1Agreement']})"
        findings.append(finding("head.logits", message))
    size = max(1, -(-len(parts) // BUCKETS))
    starts = range(0, len(parts), size)
    for name, values in (
        ("KLD", [sum(klds[at : at + size]) / len(klds[at : at + size]) for at in starts]),
        ("NMSE", [nmse(parts[at : at + size]) for at in starts]),
    ):
        middle = median(values)
        for start, value in zip(starts, values):
            if value > BUCKET_FLOOR and value > BUCKET_FACTOR * middle:
                message = f"{name} from position {start} on is {value:.2e}, over 3 times the median {middle:.2e}"
                findings.append(finding("attention.core", message, position=start, wanted=middle, got=value))
    return findings


def describe_state(state, layers):
    if state == 0:
        return "embedding", "embedding.token"
    if state == 2 * layers + 1:
        return "final norm", "norm.rms"
    kind = ("after attention", "attention.block") if state % 2 else ("after MLP", "mlp.gated")
    return f"layer {(state - 1) // 2} {kind[0]}", kind[1]


def check_trace(subject):
    hidden, layers = subject.constants["hiddenSize"], subject.constants["numLayers"]
    carried = subject.spec["oracle"]["traceLength"]
    length = min(carried, subject.positions)
    oracle = doubles(subject.read("trace"))
    with subject.open() as engine:
        got = engine.trace(subject.spec["oracle"]["ids"][:length])
    highest, findings, last = 0.0, [], {}
    for state, values in enumerate(map(floats, got)):
        wanted = oracle[state * carried * hidden :][: length * hidden]
        rows = [slice(hidden * row, hidden * (row + 1)) for row in range(length)]
        part = distance(wanted, values)
        name, contract = describe_state(state, layers)
        if part["notFinite"] is not None:
            at = part["notFinite"]
            findings.append(finding(contract, f"{name}: not finite", position=at // hidden, element=at % hidden))
            break
        error = nmse([part])
        alike = min(cosine(wanted[row], values[row]) for row in rows)
        last = {"lastNmse": error, "lastCosine": alike}
        where = {"state": state, "nmse": error, "cosine": alike, "position": part["at"] // hidden}
        if not (alike >= COSINE and error <= STATE_NMSE):
            findings.append(finding(contract, f"{name} is the first state to diverge", **where))
            break
        if error > JUMP_FLOOR and error > JUMP_FACTOR * highest:
            findings.append(finding(contract, f"{name}: NMSE jumps from {highest:.2e} to {error:.2e}", **where))
            break
        highest = max(highest, error)
    return findings, {"positions": length, "states": len(got), **last}


# -- ledger: every tensor once, and in use -------------------------------------------------------------------------


def check_ledger(subject):
    findings = []
    with subject.open() as engine:
        listed = {entry["name"]: entry for entry in engine.loaded["tensors"]}
        if len(listed) != len(engine.loaded["tensors"]):
            findings.append(finding("checkpoint.safetensors", "a tensor is listed twice"))
        wanted = {entry["name"]: entry for entry in subject.spec["tensors"]}
        for name in sorted(listed.keys() ^ wanted.keys()):
            findings.append(finding("checkpoint.safetensors", f"{name} is in only one of ledger and checkpoint"))
        for name in listed.keys() & wanted.keys():
            entry, own = listed[name], wanted[name]
            told = (entry["reads"], entry["shape"], entry["dtype"].lower())
            if told != (1, own["shape"], own["dtype"]):
                findings.append(finding("checkpoint.safetensors", f"{name}: the ledger says {told}"))
        ids = subject.spec["ledger"]["ids"]
        before = engine.logits(ids)
    probes = subject.spec["ledger"]["probes"]
    if subject.probes is not None:
        probes = subject.random.sample(probes, min(subject.probes, len(probes)))
    for probe in probes:
        folder = perturbed_copy(subject, probe)
        with subject.open(folder) as engine:
            if first_difference(before, engine.logits(ids)) is None:
                message = f"changing {probe['tensor']} changes no logit, so the engine doesn't use it"
                findings.append(finding(probe["contract"], message, tensor=probe["tensor"]))
        shutil.rmtree(folder)
    return findings, {"tensors": len(listed), "kinds": len(probes)}


def perturbed_copy(subject, probe):
    """The checkpoint with the bytes of one tensor replaced by those that the bundle names."""
    folder = os.path.join(subject.scratch, "perturbed")
    shutil.copytree(subject.folder, folder)
    with open(os.path.join(folder, probe["file"]), "r+b") as file:
        for patch in probe["patches"]:
            file.seek(patch["offset"])
            file.write(bytes.fromhex(patch["hex"]))
    return folder


# -- text ----------------------------------------------------------------------------------------------------------


def check_text(subject):
    """Tokens of carried texts, and greedy tokens against the oracle's own choices."""
    findings = []
    with subject.open() as engine:
        for text in subject.spec["texts"]:
            got = engine.encode(text["text"].encode(), text["addSpecial"], text["parseSpecial"])
            if got != text["ids"]:
                where = {"wanted": str(text["ids"][:20]), "got": str(got[:20])}
                findings.append(finding("text.tokenizer", f"encode({text['text'][:60]!r}) differs", **where))
        for greedy in subject.spec["oracle"]["greedy"]:
            request = {"prompt_ids": greedy["prompt"], "max_tokens": len(greedy["ids"]), "temperature": 0}
            got = engine.generate({**request, "ignore_eos": True})["ids"]
            if got != greedy["ids"]:
                where = {"wanted": str(greedy["ids"]), "got": str(got)}
                findings.append(finding("text.generation", "greedy tokens differ from the oracle's", **where))
    return findings, {"texts": len(subject.spec["texts"]), "greedy": len(subject.spec["oracle"]["greedy"])}


GATES = {
    "ledger": check_ledger,
    "trace": check_trace,
    "logits": check_logits,
    "edges": check_edges,
    "equivalence": check_equivalence,
    "text": check_text,
    "determinism": check_determinism,
}
