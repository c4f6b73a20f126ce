# SPDX-License-Identifier: MIT
"""report.json: whole and valid after every change, so that whatever ends the run leaves what was found until then.

Its form is src/model/device-report.ts; `metainfer device-check --check report.json` holds it against that."""

import json
import os
import time

SCHEMA = "metainfer/device-report/v1"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Report:
    def __init__(self, path, manifest, manifest_sha256, steps, seed, budget_seconds, is_fake):
        self.path = path
        self.started = time.perf_counter()
        self.data = {
            "schema": SCHEMA,
            "bundle": {
                "sha256": manifest_sha256,
                "createdAt": manifest["createdAt"],
                "catalogSha256": manifest["catalogSha256"],
                "seed": manifest["seed"],
            },
            "startedAt": now(),
            "seconds": 0.0,
            "budgetSeconds": budget_seconds,
            "seed": seed,
            "isComplete": False,
            "device": {"isFake": is_fake, "gpu": None},
            "environment": {},
            "steps": [empty_step(step, subject) for step, subject in steps],
            "ceilings": None,
            "speeds": [],
            "requirements": [],
        }
        self.save()

    def elapsed(self):
        return time.perf_counter() - self.started

    def save(self):
        self.data["seconds"] = round(self.elapsed(), 3)
        text = json.dumps(self.data, indent=1, allow_nan=False)
        partial = f"{self.path}.part"
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(partial, self.path)


def empty_step(step, subject):
    return {
        "step": step,
        "subject": subject,
        "status": "pending",
        "reason": None,
        "isEmulated": False,
        "seconds": 0.0,
        "limitSeconds": 0.0,
        "checks": [],
    }


class StepLog:
    """The checks of one step, written to the report as they come."""

    def __init__(self, report, entry, log):
        self.report, self.entry, self.log = report, entry, log

    def check(self, name, findings=(), figures=None, not_run=None):
        findings = list(findings)
        status = "not-run" if not_run else "failed" if findings else "passed"
        check = {
            "check": name,
            "status": status,
            "reason": not_run,
            "findings": findings[:10],
            "figures": figures or {},
        }
        self.entry["checks"].append(check)
        self.report.save()
        detail = findings[0]["message"] if findings else not_run or ""
        self.log(f"  {name}: {status} {detail}".rstrip())
        return status == "passed"

    def status(self):
        """failed before passed before not-run: a step that checked nothing says nothing."""
        found = {check["status"] for check in self.entry["checks"]}
        return next((status for status in ("failed", "passed") if status in found), "not-run")
