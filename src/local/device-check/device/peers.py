# SPDX-License-Identifier: MIT
"""PyTorch beside the engine: the same weights, float64 logits at real shapes, and times in turns."""

import json
import os
import select
import sys
import time

from measures import argmax, distance, divergence, doubles
from protocol import Engine, EngineFailure, floats
from speeds import Evictor, Timer, speed, too_fast
from subject import finding

REPEATS = 3
REFERENCE_TOKENS = 6
# Sums of 12,288 f32 products, over 36 layers: a fault of the arithmetic is a thousand times this.
MAX_ABS, MEAN_KLD = 5e-3, 1e-6


class TorchPeer:
    def __init__(self, run):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_server.py")
        with open(run.engine_log, "ab") as log:
            pipes = {"stdin": -1, "stdout": -1, "stderr": log}
            self.process = run.start([torch_python(), script], **pipes)
        self.about = self.answer(90)

    def ask(self, timeout, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self.answer(timeout)

    def answer(self, timeout):
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            raise RuntimeError("PyTorch does not answer")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the PyTorch process ended")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"PyTorch: {answer['error']}")
        return answer


def torch_python():
    return os.environ.get("DEVICE_CHECK_PYTHON", sys.executable)


def compare_with_torch(run, log, shapes, deadline):
    left = lambda: deadline - time.perf_counter()
    peer = TorchPeer(run)
    if peer.about["device"] != "cuda":
        return "PyTorch sees no device"
    if run.ceilings is not None:
        seconds = peer.ask(left(), op="matmul", size=8192, repeats=9)["seconds"]
        run.ceilings["matmulFlopsPerSecond"] = 2 * 8192**3 / seconds
        log.check("matmul 8192", figures={"flopsPerSecond": run.ceilings["matmulFlopsPerSecond"]})
    evictor = Evictor(run.tools.get("ceilings.cu"))
    try:
        for shape in shapes:
            compare_shape(run, log, shape, peer, evictor, left)
    finally:
        evictor.close()
    return None


def compare_shape(run, log, shape, peer, evictor, left):
    folder = run.weights[shape["id"]]
    binary = run.program_of(shape)
    try:
        peer.ask(left(), op="load", folder=folder, facts=shape["facts"])
        with Engine(binary, folder, run.engine_log, load_timeout=left()) as engine:
            timer = Timer(shape, engine, evictor, run.random)
            log.check(f"{shape['id']}: float64 logits", *reference_logits(run, shape, engine, peer, left))
            for size in shape["decodeDepths"]:
                times_in_turns(run, log, shape, "decode", size, runners(shape, timer, peer, left, size))
            for size in shape["prefillTokens"]:
                prefills = {
                    "engine, beside torch": lambda: timer.prefill(size),
                    "torch, eager": lambda: peer.ask(left(), op="prefill", tokens=size)["seconds"],
                }
                times_in_turns(run, log, shape, "prefill", size, prefills)
    except (EngineFailure, RuntimeError, ArithmeticError) as failure:
        # PyTorch's troubles are not the engine's: they leave it without a comparison.
        is_engine = not isinstance(failure, RuntimeError)
        log.check(shape["id"], [finding(None, str(failure))] if is_engine else [], not_run=None if is_engine else str(failure))


def runners(shape, timer, peer, left, depth):
    ask = lambda op: peer.ask(left(), op=op, depth=depth, steps=shape["decodeSteps"])["seconds"]
    return {
        "engine, beside torch": lambda: timer.decode(depth),
        "torch, eager": lambda: ask("decode_eager"),
        "torch, graph": lambda: ask("decode_graph"),
    }


def times_in_turns(run, log, shape, test, size, each):
    """A B C, then C B A, and so on; the first of each is warm-up."""
    names = list(each)
    for name in names:
        each[name]()
    samples = {name: [] for name in names}
    for repeat in range(REPEATS):
        for name in names if repeat % 2 == 0 else reversed(names):
            samples[name].append(each[name]())
    for name in names:
        line = speed(shape, name, test, size, samples[name], run.ceilings, run.is_fake)
        run.report.data["speeds"].append(line)
        findings = too_fast(line, run.ceilings) if name.startswith("engine") else []
        figures = {"tokensPerSecond": line["tokensPerSecond"], "spread": line["spread"]}
        log.check(f"{shape['id']}: {test} {size}: {name}", findings, figures)


def reference_logits(run, shape, engine, peer, left):
    """The engine against float64 arithmetic on the same bf16 weights."""
    width = shape["constants"]["vocabSize"]
    ids = [run.random.randrange(width) for _ in range(REFERENCE_TOKENS)]
    path = os.path.join(run.scratch("reference"), "logits.f64")
    peer.ask(left(), op="reference", ids=ids, path=path)
    with open(path, "rb") as file:
        oracle = doubles(file.read())
    wanted = [oracle[width * row : width * (row + 1)] for row in range(len(ids))]
    got = [floats(row) for row in engine.logits(ids)]
    worst = max(distance(left_row, right)["maxAbs"] for left_row, right in zip(wanted, got))
    kld = sum(divergence(left_row, right) for left_row, right in zip(wanted, got)) / len(ids)
    agreement = sum(argmax(left_row) == argmax(right) for left_row, right in zip(wanted, got)) / len(ids)
    findings = []
    if not worst <= MAX_ABS:
        findings.append(finding("decoder.model", f"logits are off by {worst:.2e} (limit {MAX_ABS})"))
    if not kld <= MEAN_KLD:
        findings.append(finding("decoder.model", f"mean KLD is {kld:.2e} (limit {MEAN_KLD})"))
    figures = {"positions": len(ids), "top1Agreement": agreement}
    if not findings:
        figures |= {"maxAbs": worst, "meanKld": kld}
    return findings, figures
