# SPDX-License-Identifier: MIT
"""PyTorch in a process of its own: one JSON request a line on stdin, one JSON answer a line on stdout. Times are wall
clock from the first launch to the device's last answer, with fresh ids and a cleared L2 cache."""

import json
import sys
import time

import torch

from torch_qwen3 import Cache, Qwen3


class Server:
    def __init__(self, device):
        self.device = device
        self.model = None
        self.graphs = {}
        self.evicted = torch.empty(2**27 if device == "cuda" else 2**10, dtype=torch.float32, device=device)

    def synchronize(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def evict(self):
        self.evicted.zero_()
        self.synchronize()

    def ids(self, count):
        return torch.randint(self.model.embedding.shape[0], (count,), device=self.device)

    def load(self, folder, facts):
        self.graphs.clear()
        self.model = None
        started = time.perf_counter()
        self.model = Qwen3(folder, facts, self.device)
        self.synchronize()
        return {"seconds": time.perf_counter() - started}

    @torch.inference_mode()
    def prefill(self, tokens):
        ids, positions = self.ids(tokens), torch.arange(tokens, device=self.device)
        cache = Cache(self.model, tokens)
        self.evict()
        started = time.perf_counter()
        hidden = self.model.run(ids, positions, cache.prefill)
        token = int(self.model.logits(hidden[-1:]).argmax())
        return {"seconds": time.perf_counter() - started, "token": token}

    def filled(self, cache, depth):
        if depth > 0:
            self.model.run(self.ids(depth), torch.arange(depth, device=self.device), cache.prefill)

    @torch.inference_mode()
    def decode_eager(self, depth, steps):
        cache = Cache(self.model, depth + steps)
        self.filled(cache, depth)
        token = self.ids(1)
        places = torch.arange(depth, depth + steps, device=self.device)
        self.evict()
        started = time.perf_counter()
        for step in range(steps):
            hidden = self.model.run(token, places[step : step + 1], cache.eager(depth + step))
            token = self.model.logits(hidden).argmax(-1)
        token = int(token[0])
        return {"seconds": (time.perf_counter() - started) / steps, "token": token}

    @torch.inference_mode()
    def decode_graph(self, depth, steps):
        if (depth, steps) not in self.graphs:
            self.graphs.clear()
            self.graphs[depth, steps] = self.capture(depth, steps)
        graph, cache, token, position = self.graphs[depth, steps]
        self.filled(cache, depth)
        token.copy_(self.ids(1))
        position.fill_(depth)
        self.evict()
        started = time.perf_counter()
        for _ in range(steps):
            graph.replay()
        last = int(token[0])
        return {"seconds": (time.perf_counter() - started) / steps, "token": last}

    def capture(self, depth, steps):
        """One step that reads its token and position from the device and leaves the next ones there."""
        cache = Cache(self.model, depth + steps)
        token, position = self.ids(1), torch.full((1,), depth, device=self.device)

        def step():
            hidden = self.model.run(token, position, cache.static(position))
            token.copy_(self.model.logits(hidden).argmax(-1))
            position.add_(1)

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                step()
                position.fill_(depth)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph, cache, token, position

    def reference(self, ids, path):
        logits = self.model.reference_logits(ids).cpu().contiguous()
        with open(path, "wb") as file:
            file.write(logits.view(torch.uint8).numpy().tobytes())
        return {"rows": logits.shape[0]}

    def matmul(self, size, repeats):
        """Median seconds of a bf16 product of random square matrices."""
        left, right = (torch.randn(size, size, device=self.device).bfloat16() for _ in range(2))
        samples = []
        for repeat in range(repeats + 2):
            self.evict()
            started = time.perf_counter()
            left @ right
            self.synchronize()
            samples.append(time.perf_counter() - started)
        return {"seconds": sorted(samples[2:])[repeats // 2]}


def main():
    server = Server("cuda" if torch.cuda.is_available() else "cpu")
    print(json.dumps({"device": server.device, "torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(server, request.pop("op"))(**request)
        except Exception as error:  # What goes wrong with one request is its answer; the next may work.
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
