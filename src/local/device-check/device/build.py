# SPDX-License-Identifier: MIT
"""Compiles the bundle's programs: host parts with g++, device parts with nvcc, or, where there is no device, the device
parts with g++ over the host emulation, which shows that their arithmetic is right and nothing else."""

import hashlib
import os
import re
import shutil
import threading

import machine
from parallel import each


def told(text):
    """What a compiler says, its errors first."""
    errors = [line for line in text.splitlines() if re.search(r"\b(error|fatal)\b", line)]
    return "\n".join([*errors[:8], text.strip()[-600:]]).strip()


class Builder:
    def __init__(self, bundle, manifest, work, cache, is_fake, jobs):
        self.bundle, self.manifest, self.work, self.is_fake = bundle, manifest, work, is_fake
        self.cache = cache or os.path.join(work, "objects")
        self.jobs = jobs
        self.nvcc = machine.find_nvcc()
        self.objects = {entry["key"]: entry for entry in manifest["objects"]}
        self.programs = {entry["id"]: entry for entry in manifest["programs"]}
        self.folders = threading.Lock()
        #: Hashes: an object made over another emulation is another object.
        self.emulation = [
            file["sha256"] for file in manifest["files"] if is_fake and file["path"].startswith("emulation/")
        ]
        os.makedirs(self.cache, exist_ok=True)

    def has_device_code(self, program):
        return any(self.objects[key]["source"].endswith(".cu") for key in self.programs[program]["objects"])

    def build(self, programs, limit):
        """(program, (binary or None, messages)) of each; what doesn't compile costs its own programs only."""
        keys = list(dict.fromkeys(key for program in programs for key in self.programs[program]["objects"]))
        compiled = dict(each(self.jobs, lambda key: self.compile(self.objects[key], limit), keys))
        yield from each(self.jobs, lambda program: self.link(program, compiled, limit), dict.fromkeys(programs))

    def compile(self, entry, limit):
        source = os.path.join(self.folder(entry["folder"]), entry["source"])
        command = self.compiler(entry["source"])
        with open(source, "rb") as file:
            source_sha256 = hashlib.sha256(file.read()).hexdigest()
        flags = [part.replace(self.bundle, "") for part in command]
        parts = [entry["key"], *flags, source_sha256, *self.emulation]
        name = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        target = os.path.join(self.cache, f"{name}.o")
        if os.path.exists(target):
            return target, ""
        partial = f"{target}.{os.getpid()}.part.o"
        code, text = machine.run([*command, "-c", source, "-o", partial], limit)
        if code == 0:
            os.replace(partial, target)
            return target, text
        return None, f"{entry['source']}: {told(text) or f'compiler ended with {code}'}"

    def compiler(self, source):
        flags = self.manifest["compile"]
        if not source.endswith(".cu"):
            return ["g++", *flags["cxx"]]
        if self.is_fake:
            return ["g++", *flags["cxx"], "-Wno-unknown-pragmas", "-isystem", os.path.join(self.bundle, "emulation"), "-x", "c++"]
        return [self.nvcc or "nvcc", *flags["nvcc"], flags["gencode"]]

    def folder(self, name):
        """In emulation the engine's own cuda_instructions.h, which is PTX, makes way for the emulation's."""
        original = os.path.join(self.bundle, name)
        if not self.is_fake or not os.path.exists(os.path.join(original, "cuda_instructions.h")):
            return original
        copy = os.path.join(self.work, "emulated", name)
        with self.folders:
            if not os.path.exists(copy):
                shutil.copytree(original, copy, ignore=shutil.ignore_patterns("cuda_instructions.h"))
        return copy

    def link(self, program, compiled, limit):
        keys = self.programs[program]["objects"]
        missing = [compiled[key][1] for key in keys if compiled[key][0] is None]
        if missing:
            return None, missing
        binary = os.path.join(self.work, "bin", hashlib.sha256(program.encode()).hexdigest()[:16])
        os.makedirs(os.path.dirname(binary), exist_ok=True)
        objects = [compiled[key][0] for key in keys]
        linker = ["g++", "-pthread"]
        if self.has_device_code(program) and not self.is_fake:
            linker = [self.nvcc or "nvcc", self.manifest["compile"]["gencode"], "-Xcompiler=-pthread"]
        code, text = machine.run([*linker, *objects, "-o", binary], limit)
        return (binary, []) if code == 0 else (None, [f"link: {text.strip()[-1500:]}"])

    def tool(self, name, limit):
        """A program of device/ itself; its binary, or None with the messages."""
        source = os.path.join(self.bundle, "device", name)
        binary = os.path.join(self.work, "bin", name.replace(".", "-"))
        os.makedirs(os.path.dirname(binary), exist_ok=True)
        command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-pthread"]
        if name.endswith(".cu"):
            command = [self.nvcc or "nvcc", "-std=c++20", "-O2", self.manifest["compile"]["gencode"]]
        code, text = machine.run([*command, source, "-o", binary], limit)
        return (binary, []) if code == 0 else (None, [f"{name}: {text.strip()[-1500:]}"])
