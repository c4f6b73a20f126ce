# SPDX-License-Identifier: MIT
"""The device check: what matters most first, the report whole after every step. Standard library only.

  python3 device-check/device/device_check.py --out OUT [--budget-seconds 540] [--fake]

Exit status: 0 where nothing failed, 1 where something did, 2 where the bundle or the arguments are wrong."""

import argparse
import hashlib
import json
import os
import random
import secrets
import shutil
import signal
import sys
import tempfile
import time
import traceback

import machine
import protocol
from report import Report, StepLog
from run import Run
from steps import STEPS


class StepTimeout(BaseException):
    """Not an Exception: nothing inside a step may take it for a failure of its own."""


class Interrupted(BaseException):
    pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--bundle", default=own, help="default: the folder that this file came in")
    parser.add_argument("--out", required=True, help="report.json and the logs go there")
    parser.add_argument("--budget-seconds", type=float, default=540.0)
    parser.add_argument("--fake", action="store_true", help="no device: emulation, and steps that are not run")
    parser.add_argument("--fake-positions", type=int, default=20, help="tokens that a gate may have in a fake run")
    parser.add_argument("--cache", help="compiled objects are kept there; default: nowhere")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", help="steps to run, separated by commas; the others are skipped")
    parser.add_argument("--seed", type=int, help="repeats the draws of an earlier run")
    return parser.parse_args()


def read_bundle(folder):
    """The manifest and its hash; what is wrong with the bundle, in words."""
    path = os.path.join(folder, "manifest.json")
    with open(path, "rb") as file:
        data = file.read()
    manifest = json.loads(data)
    wrong = []
    for entry in manifest["files"]:
        try:
            with open(os.path.join(folder, entry["path"]), "rb") as file:
                same = hashlib.sha256(file.read()).hexdigest() == entry["sha256"]
        except OSError:
            same = False
        if not same:
            wrong.append(entry["path"])
    return manifest, hashlib.sha256(data).hexdigest(), wrong


def make_log(path):
    started = time.perf_counter()

    def log(text):
        line = f"[{time.perf_counter() - started:6.1f}] {text}"
        print(line, flush=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    return log


def run_step(step, entry, run, left):
    """Runs one step within its limit; its status is in the report whatever happens."""
    # Where nothing is timed only the budget counts: emulation takes as long as it takes.
    limit = left if run.is_fake else min(step.limit, left)
    steps_log = StepLog(run.report, entry, run.log)
    entry["limitSeconds"] = round(limit, 1)
    entry["status"] = "running"
    run.report.save()
    started = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        # Only now: who ends the run at this line finds the step interrupted.
        run.log(f"{step.name} {entry['subject'] or ''}".rstrip())
        entry["reason"] = step.action(run, steps_log, entry["subject"], time.perf_counter() + limit)
        entry["status"] = steps_log.status()
    except StepTimeout:
        entry["status"], entry["reason"] = "timed-out", f"not done within {limit:.0f} s"
    except Interrupted:
        entry["status"], entry["reason"] = "interrupted", "the run was ended"
        raise
    except Exception as error:
        run.log(traceback.format_exc())
        steps_log.check(step.name, [{"contract": None, "message": f"{type(error).__name__}: {error}"[:2000], "evidence": {}}])
        entry["status"] = "failed"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        protocol.end_all()
        run.end_processes()
        machine.end_all()
        entry["isEmulated"] = step.is_emulated(run)
        entry["seconds"] = round(time.perf_counter() - started, 3)
        run.report.save()


def run_all(options, run):
    wanted = None if options.only is None else set(options.only.split(","))
    entries = {(entry["step"], entry["subject"]): entry for entry in run.report.data["steps"]}
    for step, subject in plan(run.manifest):
        entry = entries[step.name, subject]
        left = options.budget_seconds - run.report.elapsed()
        if wanted is not None and step.name not in wanted and not step.is_always:
            entry["status"], entry["reason"] = "skipped", "not asked for"
        elif step.needs_device and not run.has_device:
            entry["status"], entry["reason"] = "skipped", "there is no device"
        elif left < step.needs and not step.is_always:
            entry["status"], entry["reason"] = "skipped", f"{left:.0f} s of the budget left, {step.needs} needed"
        else:
            run_step(step, entry, run, max(left, step.needs))
        run.log(f"{step.name} {subject or ''}: {entry['status']} {entry['reason'] or ''}".rstrip())
        run.report.save()


def plan(manifest):
    shapes = [shape["id"] for shape in manifest["shapes"]]
    return [(step, subject) for step in STEPS for subject in (shapes if step.is_per_shape else [None])]


def raise_in_main(kind):
    def handler(_number, _frame):
        raise kind

    return handler


def main():
    options = arguments()
    bundle, out = os.path.abspath(options.bundle), os.path.abspath(options.out)
    try:
        manifest, sha256, wrong = read_bundle(bundle)
    except (OSError, ValueError, KeyError) as error:
        print(f"{bundle} holds no bundle: {error}", file=sys.stderr)
        return 2
    if wrong:
        print(f"The bundle is damaged: {', '.join(wrong[:5])} ({len(wrong)} in all)", file=sys.stderr)
        return 2
    os.makedirs(out, exist_ok=True)
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    steps = [(step.name, subject) for step, subject in plan(manifest)]
    report = Report(
        os.path.join(out, "report.json"), manifest, sha256, steps, seed, options.budget_seconds, options.fake
    )
    work = tempfile.mkdtemp(prefix="device-check-")
    run = Run(bundle, out, work, manifest, report, random.Random(seed), make_log(os.path.join(out, "log.txt")), options)
    signal.signal(signal.SIGALRM, raise_in_main(StepTimeout))
    signal.signal(signal.SIGTERM, raise_in_main(Interrupted))
    signal.signal(signal.SIGINT, raise_in_main(Interrupted))
    try:
        run_all(options, run)
        report.data["isComplete"] = True
    except Interrupted:
        run.log("interrupted")
    finally:
        report.save()
        run.close()
        shutil.rmtree(work, ignore_errors=True)
    failed = any(entry["status"] in ("failed", "timed-out") for entry in report.data["steps"])
    return 1 if failed or not report.data["isComplete"] else 0


if __name__ == "__main__":
    sys.exit(main())
