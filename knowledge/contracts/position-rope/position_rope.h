// SPDX-License-Identifier: MIT
// position.rope: rotates the pairs (i, i + head_dim/2) of each head by position * inv_freq[i].
#pragma once
#include "runtime_memory.h"

struct RopeTable {
  Memory cos, sin;  // f32 [max_context, head_dim/2], times the attention factor
};

RopeTable load_rope(Context& ctx);
void rope(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View x /*[num_rows, heads*head_dim], in place*/,
          int heads, const RopeTable& table);
