# SPDX-License-Identifier: MIT
"""What the steps of one run share."""

import os
import shutil
import subprocess
import tempfile

import machine
from build import Builder
from weights import choose_place, weight_bytes


class Run:
    def __init__(self, bundle, out, work, manifest, report, random, log, options):
        self.bundle, self.out, self.work, self.manifest = bundle, out, work, manifest
        self.report, self.random, self.log = report, random, log
        self.is_fake = options.fake
        self.builder = Builder(bundle, manifest, work, options.cache, options.fake, options.jobs)
        self.jobs = options.jobs
        self.engine_log = os.path.join(out, "engines.log")
        self.binaries = {}
        self.tools = {}
        self.weights = {}
        self.weights_folders = []
        self.processes = []
        #: Emulated threads are thousands of times slower than real ones.
        self.fake_positions = options.fake_positions

    @property
    def has_device(self):
        """In a fake run the emulation, where it can stand in for one."""
        return self.is_fake or self.report.data["device"]["gpu"] is not None

    @property
    def ceilings(self):
        return self.report.data["ceilings"]

    def shape(self, subject):
        """Where there is no device the miniature stands in, under its own name."""
        if self.is_fake:
            return self.manifest["miniature"]
        return next(shape for shape in self.manifest["shapes"] if shape["id"] == subject)

    def program_of(self, shape):
        return self.binaries.get(shape["program"])

    def scratch(self, name):
        return tempfile.mkdtemp(prefix=f"{name}-", dir=self.work)

    def weights_place(self, shape):
        """A new folder for a shape's weights, in memory where they fit; None where they fit nowhere."""
        place = choose_place(weight_bytes(shape), self.out)
        if place is None:
            return None
        folder = tempfile.mkdtemp(prefix="device-check-weights-", dir=place)
        self.weights_folders.append(folder)
        return folder

    def start(self, command, **options):
        """A helper process that ends with its step at the latest."""
        process = subprocess.Popen(command, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def end_processes(self):
        for process in self.processes:
            machine.end(process)
        self.processes.clear()

    def close(self):
        self.end_processes()
        for folder in self.weights_folders:
            shutil.rmtree(folder, ignore_errors=True)
