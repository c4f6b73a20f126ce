// SPDX-License-Identifier: MIT
// linear.dense: out[rows, out] = x[rows, in] W^T, x and out f32, W bf16 or f16 in fragments of the tensor cores; every
// product is exact (x as three bf16 parts), f32 sums in one order for any number of rows: bitwise the same alone and in
// a batch. Target: any NVIDIA GPU from compute capability 8.0; max |error| ~1e-6 * |x||w|.
// applies: hardware.platform=cuda, numerics.weights=bf16|f16
// requires: runtime.cuda, cuda.instructions, linear.fragments
#include "linear_dense.h"
#include "linear_fragments.h"

Linear load_linear(Context& ctx, std::span<const Tensor* const> stacked) {
  const int64_t in = stacked[0]->shape[1];
  int64_t out = 0;
  for (const Tensor* tensor : stacked) out += tensor->shape[0];
  return {static_cast<int32_t>(out), static_cast<int32_t>(in),
          pack_fragments(ctx, out, in, [&](int64_t row, float* values) {
            auto tensor = stacked.begin();
            for (; row >= (*tensor)->shape[0]; ++tensor) row -= (*tensor)->shape[0];
            to_f32(**tensor, row * in, in, values);
            return true;
          })};
}

static Fragments fragments_of(const Linear& weight) { return fragments_of(weight.weights, weight.out, weight.in); }

void linear(Context&, int num_rows, View out, View x, const Linear& weight) {
  multiply(num_rows, x, fragments_of(weight), StoreSums{out.row(0), out.row_stride, weight.out});
}

void linear_add(Context&, int num_rows, View out, View x, const Linear& weight) {
  multiply(num_rows, x, fragments_of(weight), AddSums{out.row(0), out.row_stride, weight.out});
}

// A block reads one row back from the fragments.
static __global__ void read_rows(Fragments w, const Row* rows, float* out, int64_t stride) {
  const int row = rows[blockIdx.x].token, g = row % 8, upper = row % stripe / 8;
  const int64_t first = int64_t{row / band} * w.steps * 2 + row % band / stripe;
  float* to = out + blockIdx.x * stride;
  for (int k = 2 * static_cast<int>(threadIdx.x); k < w.in; k += 2 * static_cast<int>(blockDim.x)) {
    const int64_t tile = first + k / step_columns * 2, lane = 4 * g + k % step_columns / 4;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(w.tiles + tile * warp_size + lane);
    const uint32_t pair = words[k % 4 + upper];
    to[k] = from_weight(pair & 0xffffu);
    if (k + 1 < w.in) to[k + 1] = from_weight(pair >> 16);
  }
}

void linear_rows(Context&, int num_rows, const Row* rows, View out, const Linear& weight) {
  launch("rows of a matrix", read_rows, dim3(static_cast<unsigned>(num_rows)), dim3(256), fragments_of(weight), rows,
         out.row(0), out.row_stride);
}
