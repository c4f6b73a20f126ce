# SPDX-License-Identifier: MIT
"""The gates that hold an engine against itself: another way, another process, other memory must give the same bits."""

from measures import argmax, first_difference
from protocol import EngineFailure, floats
from subject import differs, finding


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
