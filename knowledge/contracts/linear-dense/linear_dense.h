// SPDX-License-Identifier: MIT
// linear.dense: out = x W^T for a matrix stored in the engine's weight format.
#pragma once
#include <span>
#include "checkpoint_safetensors.h"
#include "runtime_memory.h"

struct Linear {
  int32_t out, in;
  Memory weights;  // layout is the realization's own
};

// The tensors, each [rows_i, in], stacked by rows to [sum(rows_i), in]; to nearest even where the format is narrower.
Linear load_linear(Context& ctx, std::span<const Tensor* const> stacked);
// A row's result doesn't depend on the other rows or the number of threads, bit for bit.
void linear(Context& ctx, int num_rows, View out /*[num_rows, out]*/, View x /*[num_rows, in]*/, const Linear& weight);
// The same, added to what out holds (the residual stream).
void linear_add(Context& ctx, int num_rows, View out /*[num_rows, out]*/, View x /*[num_rows, in]*/,
                const Linear& weight);
// Row rows[i].token of the matrix for each i: an embedding table is a Linear read by rows.
void linear_rows(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View out /*[num_rows, in]*/,
                 const Linear& weight);
