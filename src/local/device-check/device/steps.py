# SPDX-License-Identifier: MIT
"""The steps of the check, in the order in which losing the rest costs least. An action logs its checks and gives the
reason why it did not run, or None."""

import dataclasses
import json
import os
import time
from collections.abc import Callable

import machine
from gates import GATES
from parallel import each
from peers import compare_with_torch
from protocol import EngineFailure
from speeds import Evictor, Tools, measure_shape, too_fast
from subject import Subject, finding
from summary import summarize
from units import run_unit
from weights import write_weights

NO_DEVICE = "this run has no device"
SECONDS_PER_CEILING = 0.4
WORKING_SETS = [2**23, 2**25, 2**27, 2**30, 2**33]


@dataclasses.dataclass
class Step:
    name: str
    #: Seconds that it may take, and without which it is not begun.
    limit: float
    needs: float
    action: Callable
    is_always: bool = False
    is_per_shape: bool = False
    needs_device: bool = True

    def is_emulated(self, run):
        return run.is_fake and self.name in ("gates", "speed", "units")


def environment(run, log, _subject, _deadline):
    run.report.data["environment"] = machine.describe()
    if run.is_fake:
        log.check("device", not_run=NO_DEVICE)
        return NO_DEVICE
    gpu = machine.query_gpu()
    run.report.data["device"]["gpu"] = gpu
    log.check("device", [] if gpu else [finding(None, "nvidia-smi names no device")])
    log.check("nvcc", [] if machine.find_nvcc() else [finding(None, "there is no nvcc")])
    return None


def build(run, log, _subject, deadline):
    """The checked engine first, then the measured ones; unit programs are built when it is their turn."""
    limit = deadline - time.perf_counter()
    programs = [run.manifest["checked"]["program"]]
    if not run.is_fake:
        programs += [shape["program"] for shape in run.manifest["shapes"]]
    for program, (binary, messages) in run.builder.build(programs, limit):
        log.check(program, [finding(None, message) for message in messages])
        run.binaries[program] = binary
    for tool in ["synthesize.cpp"] if run.is_fake else ["synthesize.cpp", "ceilings.cu"]:
        run.tools[tool], messages = run.builder.tool(tool, limit)
        log.check(tool, [finding(None, message) for message in messages])
    return None


def gates(run, log, _subject, _deadline):
    spec = run.manifest["checked"]
    binary = run.binaries.get(spec["program"])
    if binary is None:
        return "the engine was not built"
    for name, gate in GATES.items():
        subject = Subject(
            spec,
            run.bundle,
            binary,
            os.path.join(run.bundle, spec["checkpoint"]),
            run.scratch(name),
            run.engine_log,
            run.random,
            positions=run.fake_positions if run.is_fake else spec["constants"]["maxContext"],
            processes=2 if run.is_fake else 3,
            probes=2 if run.is_fake else None,
        )
        log.check(name, *guarded(gate, subject))
    return None


def guarded(gate, subject):
    try:
        return gate(subject)
    except EngineFailure as failure:
        return [finding("harness.protocol", f"{failure.kind}: {failure}")], {}


def ceilings(run, log, _subject, deadline):
    binary = run.tools.get("ceilings.cu")
    if binary is None:
        return NO_DEVICE if run.is_fake else "the program was not built"
    command = [binary, "rates", str(SECONDS_PER_CEILING), *map(str, WORKING_SETS)]
    code, text = machine.run(command, deadline - time.perf_counter())
    if code != 0:
        log.check("ceilings", [finding(None, f"ended with {code}: {text.strip()[-500:]}")])
        return None
    rates = json.loads(text.strip().splitlines()[-1])
    reads = [
        {"workingSetBytes": read["working_set_bytes"], "bytesPerSecond": read["best_bytes_per_second"]}
        for read in rates["read"]
    ]
    figures = {
        # Weights that are worth timing don't fit the second-level cache.
        "readBytesPerSecond": max(read["bytesPerSecond"] for read in reads if read["workingSetBytes"] >= 2**30),
        "copyBytesPerSecond": rates["copy_bytes_per_second"],
        "mmaFlopsPerSecond": rates["best_flops_per_second"],
    }
    run.report.data["ceilings"] = {**figures, "matmulFlopsPerSecond": None, "reads": reads, "gpuAfter": machine.query_gpu()}
    log.check("ceilings", figures=figures)
    return None


def speed(run, log, subject, deadline):
    shape = run.shape(subject)
    binary = run.program_of(shape)
    if binary is None or run.tools.get("synthesize.cpp") is None:
        return "the engine, or the program that makes its weights, was not built"
    folder = provide_weights(run, log, shape, deadline)
    if folder is None:
        return None

    def record(line):
        run.report.data["speeds"].append(line)
        share = line["shareOfBandwidth"] or line["shareOfProducts"]
        figures = {"tokensPerSecond": line["tokensPerSecond"], "spread": line["spread"], "share": share}
        findings = too_fast(line, run.ceilings)
        log.check(f"{line['test']} {line['size']}", findings, {**figures, "gpu": machine.query_gpu()})

    evictor = Evictor(None if run.is_fake else run.tools.get("ceilings.cu"))
    try:
        limit = deadline - time.perf_counter()
        tools = Tools(evictor, run.random, run.ceilings, run.is_fake, run.engine_log, limit)
        measure_shape(shape, binary, folder, tools, record)
    except (EngineFailure, ArithmeticError) as failure:
        log.check("speed", [finding(None, str(failure))])
        return None
    finally:
        evictor.close()
    consistency(run, log, shape, binary, folder)
    return f"the miniature stands in for {subject}" if run.is_fake else None


def provide_weights(run, log, shape, deadline):
    if shape["id"] in run.weights:
        return run.weights[shape["id"]]
    folder = run.weights_place(shape)
    if folder is None:
        log.check("weights", [finding(None, "no folder has room for the weights")])
        return None
    started = time.perf_counter()
    message = write_weights(shape, folder, run.tools["synthesize.cpp"], deadline - started)
    log.check("weights", [finding(None, message)] if message else [], {"seconds": time.perf_counter() - started})
    if message is not None:
        return None
    run.weights[shape["id"]] = folder
    return folder


def consistency(run, log, shape, binary, folder):
    """Prefill, decode and batch give the same bits at real shapes too."""
    positions = run.fake_positions if run.is_fake else 48
    spec = {"constants": shape["constants"]}
    scratch = run.scratch("consistency")
    subject = Subject(spec, run.bundle, binary, folder, scratch, run.engine_log, run.random, positions, 1)
    log.check("equivalence", *guarded(GATES["equivalence"], subject))


def units(run, log, _subject, deadline):
    specs = run.manifest["units"]
    limit = deadline - time.perf_counter()
    built = dict(run.builder.build([unit["program"] for unit in specs], limit))
    run.binaries.update({program: binary for program, (binary, _) in built.items()})

    def judge(unit):
        binary, messages = built[unit["program"]]
        if binary is None:
            return [finding(unit["contract"], message) for message in messages], {"cases": 0}
        findings, cases = run_unit(run.bundle, unit, binary, run.scratch("unit"), 60)
        return findings, {"cases": cases}

    # A few at a time: most of a program's life is opening and closing the device.
    for unit, (findings, figures) in each(min(4, run.jobs), judge, specs):
        log.check(unit["id"], findings, figures)
    return None


def sanitizer(run, log, _subject, deadline):
    """The smallest program of each contract that has device code, under memcheck, then under racecheck."""
    if run.is_fake:
        return NO_DEVICE
    if not run.report.data["environment"].get("computeSanitizer"):
        return "there is no compute-sanitizer"
    smallest = {}
    for unit in run.manifest["units"]:
        is_built = run.binaries.get(unit["program"]) is not None
        if is_built and run.builder.has_device_code(unit["program"]):
            size = os.path.getsize(os.path.join(run.bundle, unit["cases"]))
            smallest[unit["contract"]] = min(smallest.get(unit["contract"], (size, unit["id"], unit)), (size, unit["id"], unit))
    jobs = [(tool, unit) for tool in ("memcheck", "racecheck") for _, _, unit in smallest.values()]

    def judge(job):
        tool, unit = job
        left = deadline - time.perf_counter() - 2
        if left < 5:
            return "the step's time was used up", ""
        results = os.path.join(run.scratch("sanitizer"), "results")
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", run.binaries[unit["program"]]]
        code, text = machine.run([*command, os.path.join(run.bundle, unit["cases"]), results], min(left, 60))
        return code, text

    for (tool, unit), (code, text) in each(min(4, run.jobs), judge, jobs):
        name = f"{tool} {unit['contract']}"
        if code is None or isinstance(code, str):
            log.check(name, not_run=code or "not done within its time")
        else:
            log.check(name, [] if code == 0 else [finding(unit["contract"], text.strip()[-1500:] or f"exit {code}")])
    return None


def torch(run, log, _subject, deadline):
    if run.is_fake:
        return NO_DEVICE
    if not run.report.data["environment"].get("torch"):
        return "torch cannot be imported"
    shapes = [shape for shape in run.manifest["shapes"] if shape["id"] in run.weights]
    return compare_with_torch(run, log, shapes, deadline)


def summary(run, log, _subject, _deadline):
    return summarize(run, log)


STEPS = [
    Step("environment", 60, 0, environment, is_always=True, needs_device=False),
    Step("build", 240, 20, build),
    Step("gates", 120, 10, gates),
    Step("ceilings", 40, 10, ceilings),
    Step("speed", 150, 30, speed, is_per_shape=True),
    Step("units", 150, 30, units),
    Step("sanitizer", 60, 20, sanitizer),
    Step("torch", 150, 40, torch),
    Step("summary", 10, 0, summary, is_always=True, needs_device=False),
]
