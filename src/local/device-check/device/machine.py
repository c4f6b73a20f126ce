# SPDX-License-Identifier: MIT
"""What this machine is, and processes that end when their step does."""

import os
import platform
import shutil
import signal
import subprocess
import threading

GPU_FIELDS = {
    "name": "name",
    "driver": "driver_version",
    "computeCapability": "compute_cap",
    "memoryMib": "memory.total",
    "smClockMhz": "clocks.sm",
    "memoryClockMhz": "clocks.mem",
    "maxSmClockMhz": "clocks.max.sm",
    "maxMemoryClockMhz": "clocks.max.mem",
    "temperatureC": "temperature.gpu",
    "powerWatts": "power.draw",
    "powerLimitWatts": "power.limit",
}
TEXTS = ("name", "driver", "computeCapability")

children = set()
#: Set while workers are being ended: what one of them starts just then ends at once.
stopped = threading.Event()


def run(command, timeout, **options):
    """A command in a process group of its own, which is ended as a whole; (exit code or None, output)."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, **options}
    process = subprocess.Popen(command, start_new_session=True, **options)
    children.add(process)
    if stopped.is_set():
        end(process)
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, (output or b"").decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        end(process)
        output, _ = process.communicate()
        return None, (output or b"").decode("utf-8", "replace") + f"\nended after {timeout:.0f} s"
    finally:
        end(process)
        children.discard(process)


def end(process):
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def end_all():
    for process in list(children):
        end(process)
        children.discard(process)


def find_nvcc():
    return shutil.which("nvcc") or next(filter(os.path.exists, ["/usr/local/cuda/bin/nvcc"]), None)


def query_gpu():
    """Name, driver, clocks, temperature and power as nvidia-smi tells them; None where there is no device."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = f"--query-gpu={','.join(GPU_FIELDS.values())}"
    try:
        code, text = run([tool, query, "--format=csv,noheader,nounits"], 20)
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.count(",") == len(GPU_FIELDS) - 1]
    if code != 0 or not lines:
        return None
    values = [value.strip() for value in lines[0].split(",")]
    return {field: value if field in TEXTS else number(value) for field, value in zip(GPU_FIELDS, values)}


def number(text):
    """nvidia-smi says [N/A] of what a card or a virtual machine doesn't tell."""
    try:
        return float(text)
    except ValueError:
        return None


def first_line(command):
    try:
        code, text = run(command, 20)
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if code == 0 and lines else None


def describe():
    nvcc = find_nvcc()
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemTotal"))
    return {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "memoryBytes": memory,
        "gxx": first_line(["sh", "-c", "g++ --version | head -1"]),
        "nvcc": nvcc and first_line([nvcc, "--version"]),
        "computeSanitizer": shutil.which("compute-sanitizer") is not None,
        "torch": first_line(["python3", "-c", "import torch; print(torch.__version__)"]),
    }
