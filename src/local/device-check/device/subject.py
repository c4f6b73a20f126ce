# SPDX-License-Identifier: MIT
"""What every gate of a whole engine is given, and the form of what it finds."""

import os

from protocol import Engine


class Subject:
    """An engine under test: its binary, a checkpoint, what the bundle knows of it, and how much work it may have."""

    def __init__(self, spec, bundle, binary, folder, scratch, log, random, positions, processes, probes=None):
        self.spec, self.bundle, self.binary, self.folder = spec, bundle, binary, folder
        self.scratch, self.log, self.random = scratch, log, random
        self.positions, self.processes = positions, processes
        #: How many kinds of tensors the ledger changes, drawn anew each time; None: all.
        self.probes = probes
        self.constants = spec["constants"]

    def open(self, folder=None):
        return Engine(self.binary, folder or self.folder, self.log, load_timeout=150)

    def ids(self, count):
        return [self.random.randrange(self.constants["vocabSize"]) for _ in range(count)]

    def read(self, name):
        with open(os.path.join(self.bundle, self.spec["oracle"][name]), "rb") as file:
            return file.read()


def finding(contract, message, **evidence):
    return {"contract": contract, "message": message[:2000], "evidence": evidence}


def differs(contract, message, difference):
    row, element, left, right = difference
    return finding(contract, message, row=row, element=element, wanted=left, got=right)
