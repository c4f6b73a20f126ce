# SPDX-License-Identifier: MIT
"""What the run shows, requirement by requirement. Emulated figures meet nothing."""

LARGE_SHAPE = "qwen3-8b"
REQUIRED_SHARE, GOAL_SHARE = 0.60, 0.85


def summarize(run, log):
    data = run.report.data
    data["requirements"] = [gates_green(data), *decode_shares(data), no_slower(data)]
    for entry in data["requirements"]:
        measured = "" if entry["measured"] is None else entry["measured"]
        run.log(f"  {entry['requirement']}: {entry['status']} {measured}".rstrip())
    log.check("requirements", figures=count(data["requirements"]))
    return None


def count(requirements):
    """Whether they are met is no fault of the run; each says so itself."""
    counts = {}
    for entry in requirements:
        counts[entry["status"]] = counts.get(entry["status"], 0) + 1
    return counts


def requirement(name, status, measured=None, wanted=None, note=None):
    return {"requirement": name, "status": status, "measured": measured, "wanted": wanted, "note": note}


def gates_green(data):
    """Every gate, unit gate and consistency check ran on the device and found nothing."""
    name = "all gates green on the device"
    if data["device"]["isFake"]:
        return requirement(name, "not-measured", note="this run has no device")
    needed = [entry for entry in data["steps"] if entry["step"] in ("build", "gates", "speed", "units")]
    red = sum(check["status"] == "failed" for entry in needed for check in entry["checks"])
    if red:
        return requirement(name, "missed", red, 0, "checks that failed")
    unfinished = [entry["step"] for entry in needed if entry["status"] != "passed"]
    if unfinished:
        return requirement(name, "not-measured", note=f"not all done: {', '.join(unfinished)}")
    return requirement(name, "met", 0, 0)


def decode_shares(data):
    lines = [
        line
        for line in data["speeds"]
        if line["shape"] == LARGE_SHAPE and line["runner"] == "engine" and line["test"] == "decode"
    ]
    shares = [line["shareOfBandwidth"] for line in lines if line["shareOfBandwidth"] is not None]
    # The deepest cache counts as much as none: the lowest share is what is promised.
    lowest = min(shares) if shares else None
    for name, wanted in (("required", REQUIRED_SHARE), ("goal", GOAL_SHARE)):
        title = f"share of the measured bandwidth in decode at {LARGE_SHAPE} shapes, {name}"
        if lowest is None:
            yield requirement(title, "not-measured", None, wanted, "no decode was timed on a device")
        else:
            yield requirement(title, "met" if lowest >= wanted else "missed", lowest, wanted)


def no_slower(data):
    """Against the faster of PyTorch's ways, at the same sizes in the same run."""
    title = "no slower in decode than PyTorch"
    ratios = []
    for line in data["speeds"]:
        if line["test"] != "decode" or line["runner"] != "engine, beside torch":
            continue
        peers = [
            other["tokensPerSecond"]
            for other in data["speeds"]
            if other["runner"].startswith("torch") and same_test(other, line)
        ]
        if peers:
            ratios.append(line["tokensPerSecond"] / max(peers))
    if not ratios:
        return requirement(title, "not-measured", None, 1.0, "no PyTorch beside the engine")
    return requirement(title, "met" if min(ratios) >= 1 else "missed", min(ratios), 1.0)


def same_test(left, right):
    return all(left[key] == right[key] for key in ("shape", "test", "size"))
