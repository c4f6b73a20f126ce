# SPDX-License-Identifier: MIT
"""A minimal Qwen3 in PyTorch over the same safetensors files: the peer that the engine is timed beside, and in float64
the reference at real shapes. Projections that share an input are joined, as a careful user of PyTorch would."""

import json
import math
import mmap
import os
import struct

import torch
import torch.nn.functional as F

TYPES = {"BF16": torch.bfloat16, "F32": torch.float32, "F16": torch.float16}


def read_tensors(folder, device):
    """{name: tensor} of every safetensors file of the folder."""
    tensors = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".safetensors"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + length])
        for key, entry in header.items():
            if key == "__metadata__":
                continue
            first, end = entry["data_offsets"]
            dtype = TYPES[entry["dtype"]]
            count = (end - first) // dtype.itemsize
            flat = torch.frombuffer(data, dtype=dtype, count=count, offset=8 + length + first)
            tensors[key] = flat.view(entry["shape"]).to(device, copy=True)
    return tensors


class Qwen3:
    def __init__(self, folder, facts, device):
        self.facts, self.device = facts, device
        tensors = read_tensors(folder, device)
        self.embedding = tensors.pop("model.embed_tokens.weight")
        self.norm = tensors.pop("model.norm.weight")
        self.head = self.embedding if facts["tiedHead"] else tensors.pop("lm_head.weight")
        self.layers = [self._layer(tensors, f"model.layers.{layer}.") for layer in range(facts["numLayers"])]
        half = torch.arange(0, facts["headDim"], 2, dtype=torch.float64, device=device)
        self.frequencies = facts["ropeTheta"] ** (-half / facts["headDim"])

    def _layer(self, tensors, prefix):
        take = lambda *names: torch.cat([tensors.pop(f"{prefix}{name}.weight") for name in names])
        attention = [f"self_attn.{name}_proj" for name in "qkv"]
        return {
            "input": take("input_layernorm"),
            "qkv": take(*attention),
            "q_norm": take("self_attn.q_norm"),
            "k_norm": take("self_attn.k_norm"),
            "o": take("self_attn.o_proj"),
            "post": take("post_attention_layernorm"),
            "gate_up": take("mlp.gate_proj", "mlp.up_proj"),
            "down": take("mlp.down_proj"),
        }

    def rms_norm(self, x, gain):
        wide = x if x.dtype == torch.float64 else x.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.facts["rmsNormEps"])
        return scaled.to(x.dtype) * gain.to(x.dtype)

    def rotation(self, positions, dtype):
        angles = torch.outer(positions.double(), self.frequencies)
        angles = torch.cat([angles, angles], -1)
        return angles.cos().to(dtype), angles.sin().to(dtype)

    def rotate(self, x, cos, sin):
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat([-right, left], -1) * sin

    def block(self, x, layer, cos, sin, attend):
        """x [rows, hidden]; attend(q, k, v), each [heads, rows, head_dim], keeps the cache."""
        facts, weights = self.facts, self.layers[layer]
        heads, kv_heads, width = facts["numHeads"], facts["numKvHeads"], facts["headDim"]
        matrix = lambda name: weights[name].to(x.dtype)
        normed = self.rms_norm(x, weights["input"])
        qkv = F.linear(normed, matrix("qkv")).view(-1, heads + 2 * kv_heads, width).transpose(0, 1)
        q, k, v = qkv.split([heads, kv_heads, kv_heads])
        q = self.rotate(self.rms_norm(q, weights["q_norm"]), cos, sin)
        k = self.rotate(self.rms_norm(k, weights["k_norm"]), cos, sin)
        mixed = attend(layer, q, k, v).transpose(0, 1).reshape(-1, heads * width)
        x = x + F.linear(mixed, matrix("o"))
        gate, up = F.linear(self.rms_norm(x, weights["post"]), matrix("gate_up")).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, matrix("down"))

    def run(self, ids, positions, attend, dtype=torch.bfloat16):
        x = self.embedding[ids].to(dtype)
        cos, sin = self.rotation(positions, dtype)
        for layer in range(self.facts["numLayers"]):
            x = self.block(x, layer, cos, sin, attend)
        return x

    def logits(self, x):
        """Of each row of x, in pieces of the vocabulary, so that float64 weights need not fit as a whole."""
        normed = self.rms_norm(x, self.norm)
        if x.dtype == torch.bfloat16:
            return F.linear(normed, self.head)
        return torch.cat([F.linear(normed, part.to(x.dtype)) for part in self.head.split(8192)], -1)

    def attend_alone(self, _layer, q, k, v):
        """A whole prompt from position 0, without a cache; in float64 spelled out, softmax and all."""
        groups = self.facts["numHeads"] // self.facts["numKvHeads"]
        if q.dtype != torch.float64:
            return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
        k, v = k.repeat_interleave(groups, 0), v.repeat_interleave(groups, 0)
        scores = q @ k.transpose(1, 2) / math.sqrt(self.facts["headDim"])
        hidden = torch.ones(scores.shape[1:], dtype=torch.bool, device=self.device).triu(1)
        return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v

    @torch.inference_mode()
    def reference_logits(self, ids):
        """float64 [ids, vocab_size] over the same bf16 weights."""
        tokens = torch.tensor(ids, device=self.device)
        positions = torch.arange(len(ids), device=self.device)
        return self.logits(self.run(tokens, positions, self.attend_alone, torch.float64))


class Cache:
    """Keys and values of `length` positions at most, written in place, as a captured graph needs them."""

    def __init__(self, model, length):
        facts = model.facts
        shape = (facts["numLayers"], facts["numKvHeads"], length, facts["headDim"])
        self.keys = torch.zeros(shape, dtype=torch.bfloat16, device=model.device)
        self.values = torch.zeros_like(self.keys)
        self.places = torch.arange(length, device=model.device)

    def prefill(self, layer, q, k, v):
        self.keys[layer, :, : k.shape[1]] = k
        self.values[layer, :, : v.shape[1]] = v
        return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]

    def eager(self, position):
        """One row at a position that the host knows: the cache is read as far as it is filled."""

        def attend(layer, q, k, v):
            self.keys[layer, :, position : position + 1] = k
            self.values[layer, :, position : position + 1] = v
            keys, values = (part[layer, :, : position + 1][None] for part in (self.keys, self.values))
            return F.scaled_dot_product_attention(q[None], keys, values, enable_gqa=True)[0]

        return attend

    def static(self, position):
        """One row at a position that lies in a tensor: the whole cache is read, under a mask."""

        def attend(layer, q, k, v):
            self.keys[layer].index_copy_(1, position, k)
            self.values[layer].index_copy_(1, position, v)
            seen = (self.places <= position)[None, None, None]
            keys, values = self.keys[layer][None], self.values[layer][None]
            return F.scaled_dot_product_attention(q[None], keys, values, attn_mask=seen, enable_gqa=True)[0]

        return attend
