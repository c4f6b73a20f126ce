# SPDX-License-Identifier: MIT
"""The harness protocol, version 1, from the harness's end: knowledge/contracts/harness-protocol/contract.md."""

import array
import fcntl
import json
import os
import select
import signal
import struct
import time

MAGIC = 0x3148494D
VERSION = 1
HEADER = struct.Struct("<IHHII")
FAILURE = 0xFFFF
MAX_PAYLOAD = 2**30
OPCODES = {
    "hello": 1,
    "load": 2,
    "logits": 3,
    "trace": 4,
    "batch": 5,
    "prefill": 6,
    "decode": 7,
    "poison": 8,
    "encode": 9,
    "decode_text": 10,
    "generate": 11,
    "batch_decode": 12,
    "quit": 13,
}


class EngineFailure(Exception):
    """kind: refused (answered with an error frame, and lives), crashed, timeout or malformed."""

    def __init__(self, kind, operation, message):
        super().__init__(f"{operation}: {message}")
        self.kind = kind
        self.operation = operation


def u32s(*values):
    return struct.pack(f"<{len(values)}I", *values)


def ids_of(payload):
    return list(struct.unpack(f"<{len(payload) // 4}I", payload))


def rows_of(operation, payload, count, width):
    """Rows of f32 as bytes: what is compared bit by bit stays as it came."""
    if len(payload) != 4 * count * width:
        raise EngineFailure(
            "malformed", operation, f"{len(payload)} bytes instead of {count} rows of {width} f32"
        )
    return [bytes(payload[4 * width * row : 4 * width * (row + 1)]) for row in range(count)]


def floats(row):
    values = array.array("f")
    values.frombytes(row)
    return values


def _high(descriptor):
    """The same pipe end under a number that the child's 0 to 4 cannot overwrite."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return moved


class Engine:
    """A fresh process `binary --harness`, in a process group of its own, with a checkpoint loaded where one is named."""

    running = set()

    def __init__(self, binary, folder=None, log=os.devnull, timeout=60.0, load_timeout=None, command=None):
        self.timeout = timeout
        self.sequence = 0
        self.exit_code = None
        request_read, request_write = (_high(end) for end in os.pipe2(os.O_CLOEXEC))
        reply_read, reply_write = (_high(end) for end in os.pipe2(os.O_CLOEXEC))
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, request_read, 3),
            (os.POSIX_SPAWN_DUP2, reply_write, 4),
        ]
        arguments = [*(command or []), binary, "--harness"]
        self.pid = os.posix_spawn(
            arguments[0], arguments, dict(os.environ), file_actions=actions, setpgroup=0
        )
        Engine.running.add(self)
        os.close(request_read)
        os.close(reply_write)
        self.to_engine, self.from_engine = request_write, reply_read
        os.set_blocking(self.from_engine, False)
        os.set_blocking(self.to_engine, False)
        self.buffer = bytearray()
        try:
            self.hello = self._json("hello", b"")
            if folder is not None:
                self.load(folder, load_timeout or timeout)
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.quit()

    # -- frames ---------------------------------------------------------------------------------------------------

    def _write(self, data, operation, deadline):
        view = memoryview(data)
        while view:
            left = deadline - time.perf_counter()
            if left <= 0:
                raise self._fail("timeout", operation, "the engine does not read its request")
            if select.select([], [self.to_engine], [], left)[1]:
                try:
                    view = view[os.write(self.to_engine, view) :]
                except BrokenPipeError:
                    raise self._fail("crashed", operation, "the engine process is gone") from None

    def _read(self, count, operation, deadline):
        while len(self.buffer) < count:
            left = deadline - time.perf_counter()
            if left <= 0 or not select.select([self.from_engine], [], [], left)[0]:
                raise self._fail("timeout", operation, "no answer within the time allowed")
            chunk = os.read(self.from_engine, 2**20)
            if not chunk:
                raise self._fail("crashed", operation, "the engine process is gone")
            self.buffer += chunk
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def _frame(self, operation, deadline):
        magic, version, opcode, sequence, length = HEADER.unpack(
            self._read(HEADER.size, operation, deadline)
        )
        if (magic, version) != (MAGIC, VERSION) or length > MAX_PAYLOAD:
            raise self._fail("malformed", operation, "a reply's header breaks the protocol")
        if sequence != self.sequence:
            raise self._fail("malformed", operation, f"sequence {sequence} instead of {self.sequence}")
        payload = self._read(length, operation, deadline)
        return opcode, payload, time.perf_counter()

    def _fail(self, kind, operation, message):
        self.kill()
        how = "" if self.exit_code is None else f" (exit code {self.exit_code})"
        return EngineFailure(kind, operation, message + how)

    def request(self, operation, payload, step_opcode=None, last_opcode=None, timeout=None):
        """Frames of the reply as (payload, when its last byte came), and when the request went out."""
        self.sequence = (self.sequence + 1) & 0xFFFFFFFF
        opcode = OPCODES[operation]
        last = last_opcode or opcode | 0x8000
        sent_at = time.perf_counter()
        deadline = sent_at + (timeout or self.timeout)
        header = HEADER.pack(MAGIC, VERSION, opcode, self.sequence, len(payload))
        self._write(header + payload, operation, deadline)
        frames = []
        while True:
            got, body, at = self._frame(operation, deadline)
            if got == FAILURE:
                raise EngineFailure("refused", operation, body.decode("utf-8", "replace")[:500])
            if got not in (last, step_opcode):
                raise self._fail("malformed", operation, f"opcode {got:#x} in reply to {opcode}")
            frames.append((body, at))
            if got == last:
                return sent_at, frames

    def _json(self, operation, payload, timeout=None):
        body = self.request(operation, payload, timeout=timeout)[1][0][0]
        try:
            return json.loads(body)
        except ValueError:
            raise self._fail("malformed", operation, "the reply is not JSON") from None

    # -- operations -----------------------------------------------------------------------------------------------

    def load(self, folder, timeout=None):
        self.loaded = self._json("load", os.fsencode(folder), timeout)
        return self.loaded

    def logits(self, ids, chunks=None):
        chunks = [len(ids)] if chunks is None else chunks
        payload = u32s(len(chunks), *chunks, len(ids), *ids)
        body = self.request("logits", payload)[1][0][0]
        return rows_of("logits", body, len(ids), self.hello["vocab_size"])

    def trace(self, ids):
        body = self.request("trace", u32s(len(ids), *ids))[1][0][0]
        states = 2 * self.hello["num_layers"] + 2
        return rows_of("trace", body, states, len(ids) * self.hello["hidden_size"])

    def batch(self, sequences):
        lengths = [len(ids) for ids in sequences]
        payload = u32s(len(lengths), *lengths, *(token for ids in sequences for token in ids))
        body = self.request("batch", payload)[1][0][0]
        rows = rows_of("batch", body, sum(lengths), self.hello["vocab_size"])
        return [[rows.pop(0) for _ in range(length)] for length in lengths]

    def prefill(self, slot, ids, timeout=None):
        sent_at, frames = self.request("prefill", u32s(slot, len(ids), *ids), timeout=timeout)
        body, at = frames[0]
        logits = rows_of("prefill", body[4:], 1, self.hello["vocab_size"])[0]
        return {"argmax": ids_of(body[:4])[0], "logits": logits, "seconds": at - sent_at}

    def decode(self, slot, first_token, steps, timeout=None):
        reply = self._steps("decode", u32s(slot, first_token, steps), steps, 1, timeout)
        return {**reply, "argmax": [row[0] for row in reply["argmax"]], "logits": reply["logits"][0]}

    def batch_decode(self, first_tokens, steps, timeout=None):
        payload = u32s(len(first_tokens), *first_tokens, steps)
        return self._steps("batch_decode", payload, steps, len(first_tokens), timeout)

    def _steps(self, operation, payload, steps, slots, timeout):
        opcode = OPCODES[operation]
        sent_at, frames = self.request(operation, payload, opcode | 0x8000, opcode | 0x8100, timeout)
        *each, (last, ended_at) = frames
        if len(each) != steps or any(len(body) != 4 * (1 + slots) for body, _ in each):
            raise self._fail("malformed", operation, f"{len(each)} step frames for {steps} steps")
        return {
            "argmax": [ids_of(body)[1:] for body, _ in each],
            "times": [at for _, at in each],
            "sent_at": sent_at,
            "seconds": ended_at - sent_at,
            "logits": rows_of(operation, last[4:], slots, self.hello["vocab_size"]),
        }

    def poison(self):
        self.request("poison", b"")

    def encode(self, text, add_special, parse_special):
        flags = (1 if add_special else 0) | (2 if parse_special else 0)
        return ids_of(self.request("encode", bytes([flags]) + text)[1][0][0])

    def generate(self, request):
        payload = json.dumps(request).encode()
        frames = self.request("generate", payload, 0x800B, 0x810B)[1]
        return json.loads(frames[-1][0])

    # -- end ------------------------------------------------------------------------------------------------------

    def quit(self):
        """Asks the engine to exit; its exit code, or None where it had to be ended."""
        if self.exit_code is None and self in Engine.running:
            try:
                self.request("quit", b"", timeout=10)
                self._reap(10)
            except EngineFailure:
                pass
            self.kill()
        return self.exit_code

    def _reap(self, seconds):
        deadline = time.perf_counter() + seconds
        while self in Engine.running:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.exit_code = os.waitstatus_to_exitcode(status)
                self._forget()
            elif time.perf_counter() > deadline:
                return
            else:
                time.sleep(0.005)

    def kill(self):
        if self not in Engine.running:
            return
        # A process that ended by itself keeps its own exit code; one that hangs is ended.
        self._reap(0.2)
        if self in Engine.running:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._forget()

    def _forget(self):
        Engine.running.discard(self)
        os.close(self.to_engine)
        os.close(self.from_engine)


def end_all():
    """Ends every engine that a step left running."""
    for engine in list(Engine.running):
        engine.kill()
