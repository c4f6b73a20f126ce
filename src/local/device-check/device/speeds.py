# SPDX-License-Identifier: MIT
"""Times an engine of real shapes by this process's own clock, from the request to the frame that ends the work."""

import dataclasses
import subprocess

import machine
from measures import median
from protocol import Engine, floats
from subject import finding

REPEATS = 5
PHYSICS_MARGIN = 1.25


class Evictor:
    """Clears the device's L2 between repeats, from a process of its own; does nothing where there is no such program."""

    def __init__(self, binary):
        self.process = None
        if binary is not None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen([binary, "clear"], start_new_session=True, **pipes)
            machine.children.add(self.process)
            self.evict()

    def evict(self):
        if self.process is not None:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
            if self.process.stdout.readline().strip() != b"cleared":
                raise RuntimeError("the program that clears the L2 cache ended")

    def close(self):
        if self.process is not None:
            machine.end(self.process)
            machine.children.discard(self.process)


class Timer:
    """One shape on one engine: fresh ids, a cleared cache and its own samples for every repeat."""

    def __init__(self, shape, engine, evictor, random):
        self.shape, self.engine, self.evictor, self.random = shape, engine, evictor, random

    def ids(self, count):
        return [self.random.randrange(self.shape["constants"]["vocabSize"]) for _ in range(count)]

    def decode(self, depth):
        """Seconds of one step, the mean of all steps from the request on."""
        self.engine.poison()
        if depth > 0:
            self.engine.prefill(0, self.ids(depth), timeout=120)
        self.evictor.evict()
        steps = self.shape["decodeSteps"]
        reply = self.engine.decode(0, self.ids(1)[0], steps, timeout=120)
        require_finite(reply["logits"])
        return (reply["times"][-1] - reply["sent_at"]) / steps

    def prefill(self, tokens):
        ids = self.ids(tokens)
        self.evictor.evict()
        reply = self.engine.prefill(0, ids, timeout=120)
        require_finite(reply["logits"])
        return reply["seconds"]


def require_finite(row):
    if not all(value - value == 0 for value in floats(row)):
        raise ArithmeticError("a timed run gave a logit that is not finite")


def decode_bytes(shape, depth):
    """Read by one step in the middle of the timed ones; nothing can avoid it."""
    middle = depth + (shape["decodeSteps"] + 1) / 2
    return shape["work"]["weightBytesPerStep"] + shape["work"]["kvBytesPerPosition"] * middle


def speed(shape, runner, test, size, samples, ceilings, is_emulated):
    """A line of the report's `speeds`. Shares are of the fastest rate measured in this run; emulation has none."""
    seconds = median(samples)
    line = {
        "shape": shape["id"],
        "runner": runner,
        "test": test,
        "size": size,
        "samplesSeconds": samples,
        "medianSeconds": seconds,
        "tokensPerSecond": (1 if test == "decode" else size) / seconds,
        "spread": (max(samples) - min(samples)) / seconds,
        "bytes": decode_bytes(shape, size) if test == "decode" else None,
        "flops": shape["work"]["prefillFlops"][str(size)] if test == "prefill" else None,
        "shareOfBandwidth": None,
        "shareOfProducts": None,
        "isEmulated": is_emulated,
    }
    if ceilings is not None and not is_emulated:
        if test == "decode":
            line["shareOfBandwidth"] = line["bytes"] / seconds / best_bandwidth(ceilings)
        else:
            line["shareOfProducts"] = line["flops"] / seconds / best_products(ceilings)
    return line


def best_bandwidth(ceilings):
    return max(ceilings["copyBytesPerSecond"], ceilings["readBytesPerSecond"])


def best_products(ceilings):
    rates = [ceilings["mmaFlopsPerSecond"], ceilings["matmulFlopsPerSecond"]]
    return max(rate for rate in rates if rate is not None)


def too_fast(line, ceilings):
    """Faster than what was measured allows is an error of the measurement or of the engine."""
    if ceilings is None or line["isEmulated"]:
        return []
    fastest = {**line, "medianSeconds": min(line["samplesSeconds"])}
    if line["test"] == "decode":
        share = fastest["bytes"] / fastest["medianSeconds"] / best_bandwidth(ceilings)
    else:
        share = fastest["flops"] / fastest["medianSeconds"] / best_products(ceilings)
    if share <= PHYSICS_MARGIN:
        return []
    message = f"{line['test']} at {line['size']} is {share:.2f} times what the device was measured to do"
    return [finding(None, message, share=share, limit=PHYSICS_MARGIN)]


@dataclasses.dataclass
class Tools:
    evictor: Evictor
    random: object
    ceilings: dict | None
    is_fake: bool
    log_path: str
    load_limit: float


def measure_shape(shape, binary, folder, tools, record):
    """Loads the engine and times it: decoding first, shallow before deep. `record` takes each line as it comes."""
    with Engine(binary, folder, tools.log_path, load_timeout=tools.load_limit) as engine:
        timer = Timer(shape, engine, tools.evictor, tools.random)
        for test, sizes in (("decode", shape["decodeDepths"]), ("prefill", shape["prefillTokens"])):
            for size in sizes:
                run = getattr(timer, test)
                run(size)  # Warm: graphs are captured and kernels loaded outside of the samples.
                samples = [run(size) for _ in range(REPEATS)]
                record(speed(shape, "engine", test, size, samples, tools.ceilings, tools.is_fake))
