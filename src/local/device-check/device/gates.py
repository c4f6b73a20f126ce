# SPDX-License-Identifier: MIT
"""The gates of an engine that need its process alone: what src/verification/gates asks, asked here over the protocol.

Every gate takes a Subject and gives (findings, figures). Ids that the oracle worked through come with the bundle; all
other ids are drawn here, from the run's seed."""

import os
import shutil

from measures import argmax, cosine, distance, divergence, doubles, first_difference, median, nmse, show
from protocol import Engine, EngineFailure, floats

MAX_ABS, MEAN_KLD = 1e-3, 1e-6
BUCKETS, BUCKET_FLOOR, BUCKET_FACTOR = 8, 1e-8, 3
COSINE, STATE_NMSE, JUMP_FLOOR, JUMP_FACTOR = 0.9999, 1e-9, 1e-11, 30


class Subject:
    """An engine under test: its binary, a checkpoint, what the bundle knows of it, and how much work it may have."""

    def __init__(self, spec, bundle, binary, folder, scratch, log, random, positions, processes, probes=None):
        self.spec, self.bundle, self.binary, self.folder = spec, bundle, binary, folder
        self.scratch, self.log, self.random = scratch, log, random
        self.positions, self.processes = positions, processes
        #: How many kinds of tensors the ledger changes, drawn anew each time; None: all.
        self.probes = probes
        self.constants = spec["constants"]

    def open(self, folder=None):
        return Engine(self.binary, folder or self.folder, self.log, load_timeout=150)

    def ids(self, count):
        return [self.random.randrange(self.constants["vocabSize"]) for _ in range(count)]

    def read(self, name):
        with open(os.path.join(self.bundle, self.spec["oracle"][name]), "rb") as file:
            return file.read()


def finding(contract, message, **evidence):
    return {"contract": contract, "message": message[:2000], "evidence": evidence}


def differs(contract, message, difference):
    row, element, left, right = difference
    return finding(contract, message, row=row, element=element, wanted=left, got=right)


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


# -- equivalence and determinism: bit for bit ----------------------------------------------------------------------


def check_equivalence(subject):
    most = subject.constants["maxContext"]
    length = max(2, min(subject.positions, 48, most - 9))
    ids, findings, checks = subject.ids(length), [], 0

    def same(name, contract, wanted, got):
        nonlocal checks
        checks += 1
        difference = first_difference(wanted, got)
        if difference is not None:
            findings.append(differs(contract, f"{name}: the two ways differ", difference))

    with subject.open() as engine:
        whole = engine.logits(ids)
        same("one token at a time", "decoder.model", whole, engine.logits(ids, [1] * length))
        same("random chunks", "decoder.model", whole, engine.logits(ids, chunks(subject, length)))
        same("prefill", "harness.protocol", whole[-1:], [engine.prefill(0, ids)["logits"]])
        same("prefill of one less", "kv.cache", whole[-2:-1], [engine.prefill(0, ids[:-1])["logits"]])
        same("prefill, then decode", "kv.cache", whole[-1:], [engine.decode(0, ids[-1], 1)["logits"]])
        first = engine.prefill(0, ids[: length // 2 + 1])["argmax"]
        decoded = engine.decode(0, first, 8)
        forced = engine.logits([*ids[: length // 2 + 1], first, *decoded["argmax"][:-1]])
        same("decode = teacher-forced", "kv.cache", forced[-1:], [decoded["logits"]])
        chosen = [argmax(floats(row)) for row in forced[-9:]]
        if chosen != [first, *decoded["argmax"]]:
            findings.append(finding("kv.cache", "decode chose other tokens than the same tokens teacher-forced"))
        batch_equivalence(subject, engine, length, same)
    return findings, {"checks": checks, "positions": length}


def chunks(subject, total):
    parts = []
    while sum(parts) < total:
        parts.append(subject.random.randint(1, min(9, total - sum(parts))))
    return parts


def batch_equivalence(subject, engine, length, same):
    count = min(subject.constants["maxBatch"], 4)
    sequences = [subject.ids(length if index == 0 else subject.random.randint(1, length)) for index in range(count)]
    together = engine.batch(sequences)
    for index, ids in enumerate(sequences):
        same(f"sequence {index} of a batch", "decoder.model", engine.logits(ids), together[index])
    alone = []
    for slot, ids in enumerate(sequences):
        first = engine.prefill(slot, ids)["argmax"]
        alone.append((first, engine.decode(slot, first, 8)))
    for slot, ids in enumerate(sequences):
        engine.prefill(slot, ids)
    batch = engine.batch_decode([first for first, _ in alone], 8)
    for slot, (_, decoded) in enumerate(alone):
        same(f"slot {slot} of a batched decode", "kv.cache", [decoded["logits"]], [batch["logits"][slot]])


def check_determinism(subject):
    length = min(32, subject.positions, subject.constants["maxContext"] - 16)
    ids, seed, seen = subject.ids(length), subject.random.randrange(2**32), []
    for _ in range(subject.processes):
        with subject.open() as engine:
            rows = engine.logits(ids)
            first = engine.prefill(0, ids)
            rows += [first["logits"], engine.decode(0, first["argmax"], 4)["logits"]]
            request = {"prompt_ids": ids, "max_tokens": 8, "ignore_eos": True}
            texts = [
                engine.generate({**request, "temperature": 0})["ids"],
                engine.generate({**request, "temperature": 1.5, "seed": seed})["ids"],
            ]
        seen.append((rows, texts))
    findings = []
    for process, (rows, texts) in enumerate(seen[1:], 1):
        difference = first_difference(seen[0][0], rows)
        if difference is not None:
            findings.append(differs("decoder.model", f"process {process} gives other logits", difference))
        elif texts != seen[0][1]:
            findings.append(finding("sampling.token", f"process {process} generates other tokens"))
    return findings, {"processes": len(seen), "rows": len(seen[0][0])}


# -- edges: poisoned memory, block boundaries, refusals --------------------------------------------------------------


def check_edges(subject):
    constants = subject.constants
    most, rows = constants["maxContext"], constants["maxRows"]
    turns = {1, 2, 15, 16, 17, rows - 1, rows, rows + 1, most - 1, most}
    lengths = sorted(length for length in turns if 1 <= length <= min(most, subject.positions))
    ids, findings = subject.ids(lengths[-1]), []
    with subject.open() as engine:
        engine.poison()
        whole = engine.logits(ids)
        bad = next((row for row, values in enumerate(whole) if not all(map(finite, floats(values)))), None)
        if bad is not None:
            message = f"after poisoning, the logits of position {bad} are not finite"
            return [finding("kv.cache", message)], {"lengths": lengths[-1]}
        for length in lengths:
            engine.poison()
            for how in ("after poisoning", "over its own leftovers"):
                difference = first_difference(whole[:length], engine.logits(ids[:length]))
                if difference is not None:
                    findings.append(differs("kv.cache", f"a prompt of {length} differs {how}", difference))
        findings += last_slot(subject, engine, ids)
        findings += refusals(subject, engine)
        code = engine.quit()
        if code != 0:
            findings.append(finding("harness.protocol", f"the engine ends with exit code {code} after quit"))
    return findings, {"lengths": " ".join(map(str, lengths)), "refusals": 9}


def finite(value):
    return value - value == 0


def last_slot(subject, engine, ids):
    if len(ids) < 2:
        return []
    engine.poison()
    first = engine.prefill(0, ids)["logits"]
    engine.poison()
    slot = subject.constants["maxBatch"] - 1
    engine.prefill(slot, ids[:-1])
    last = engine.decode(slot, ids[-1], 1)["logits"]
    difference = first_difference([first], [last])
    return [] if difference is None else [differs("kv.cache", "the last slot differs from the first", difference)]


def refusals(subject, engine):
    vocabulary, most = subject.constants["vocabSize"], subject.constants["maxContext"]
    batch, findings = subject.constants["maxBatch"], []
    probe = subject.ids(3)
    before = engine.logits(probe)
    for name, request in (
        ("a token id equal to the vocabulary size", lambda: engine.logits([0, vocabulary])),
        ("a token id of 2^31", lambda: engine.prefill(0, [2**31])),
        ("a token id of 2^32 - 1", lambda: engine.logits([2**32 - 1])),
        ("one token more than max_context", lambda: engine.prefill(0, [0] * (most + 1))),
        ("a slot equal to max_batch", lambda: engine.prefill(batch, [0])),
        ("more sequences than max_batch", lambda: engine.batch([[0]] * (batch + 1))),
        ("chunks that do not add up", lambda: engine.logits([0, 0, 0], [1, 1])),
        ("an empty prompt", lambda: engine.prefill(0, [])),
        ("decoding past max_context", lambda: (engine.prefill(0, [0]), engine.decode(0, 0, most))),
    ):
        try:
            request()
            findings.append(finding("decoder.model", f"{name} was accepted instead of refused"))
        except EngineFailure as failure:
            if failure.kind != "refused":
                raise
        difference = first_difference(before, engine.logits(probe))
        if difference is not None:
            findings.append(differs("decoder.model", f"after {name} was refused, results changed", difference))
    return findings


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
