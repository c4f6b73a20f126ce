# SPDX-License-Identifier: MIT
"""Synthetic weights of a shape as a Hugging Face folder, made on the machine that needs them: the same seed gives the
same bytes. The numbers are written by synthesize.cpp, on all cores."""

import hashlib
import json
import os
import shutil
import tempfile

import machine

SHARD_BYTES = 2 * 2**30


def elements(tensor):
    count = 1
    for size in tensor["shape"]:
        count *= size
    return count


def weight_bytes(shape):
    return sum(2 * elements(tensor) for tensor in shape["tensors"])


def choose_place(needed, fallback):
    """Memory where it holds the weights with room to spare, else the disk."""
    for folder in ("/dev/shm", tempfile.gettempdir(), fallback):
        if os.path.isdir(folder) and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 1.2 * needed + 2**30:
            return folder
    return None


def shards(tensors):
    groups, size = [[]], 0
    for tensor in tensors:
        bytes_ = 2 * elements(tensor)
        if groups[-1] and size + bytes_ > SHARD_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(tensor)
        size += bytes_
    return groups


def write_weights(shape, folder, synthesize, limit):
    """Fills `folder`; the message of what failed, or None."""
    groups = shards(shape["tensors"])
    plan, index = [], {}
    for number, group in enumerate(groups, 1):
        name = "model.safetensors" if len(groups) == 1 else f"model-{number:05}-of-{len(groups):05}.safetensors"
        path = os.path.join(folder, name)
        start = write_header(path, group)
        for tensor in group:
            key = hashlib.sha256(f"{shape['seed']}\n{tensor['name']}".encode()).digest()[:8]
            plan.append(
                f"{path} {start} {elements(tensor)} {tensor['mean']!r} {tensor['spread']!r} "
                f"{int.from_bytes(key, 'little')}"
            )
            start += 2 * elements(tensor)
            index[tensor["name"]] = name
    write_json(folder, "config.json", shape["config"])
    if shape["generationConfig"] is not None:
        write_json(folder, "generation_config.json", shape["generationConfig"])
    if len(groups) > 1:
        total = {"total_size": weight_bytes(shape)}
        write_json(folder, "model.safetensors.index.json", {"metadata": total, "weight_map": index})
    with tempfile.TemporaryFile() as file:
        file.write("\n".join(plan).encode())
        file.seek(0)
        code, text = machine.run([synthesize], limit, stdin=file)
    return None if code == 0 else f"weights: {text.strip()[-500:] or f'ended with {code}'}"


def write_header(path, tensors):
    """An empty file of the right length after its header; where the data begins."""
    entries, offset = {"__metadata__": {"format": "pt"}}, 0
    for tensor in tensors:
        end = offset + 2 * elements(tensor)
        entries[tensor["name"]] = {"dtype": "BF16", "shape": tensor["shape"], "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + offset)
    return 8 + len(text)


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)
