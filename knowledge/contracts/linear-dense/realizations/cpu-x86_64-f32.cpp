// SPDX-License-Identifier: MIT
// linear.dense: out[rows, out] = x[rows, in] W^T, all f32; f32 sums in `lanes` chains per element.
// W is packed in panels of 4 rows, interleaved by vectors, so that one token's pass reads memory in one stream and a
// tile of several tokens reuses every loaded vector. Each output element is summed in the same order in every
// tile: bitwise the same alone, in a batch, for any thread count. Target: any x86-64; max |error| ~1e-6 * |x||w|.
// applies: hardware.platform=cpu-x86_64, numerics.weights=f32
// requires: runtime.vectors
#include "linear_dense.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

using Weight = float;
constexpr int panel = 4;
constexpr int tile = lanes >= 16 ? 6 : 3;  // token rows of a tile: tile * panel sums stay in registers

static int64_t panel_size(int64_t in) { return panel * round_up(in, lanes); }
// Place of element (row, column).
static int64_t place(int64_t in, int64_t row, int64_t column) {
  return row / panel * panel_size(in) + column / lanes * (panel * lanes) + row % panel * lanes + column % lanes;
}

// Dot products of Rows rows of x with the 4 rows of a panel, of which `columns` exist; stored or added.
template <int Rows, bool Add>
static void multiply(const Weight* weights, const View& x, int64_t first_row, const View& out, int64_t column,
                     int columns) {
  const int64_t in = x.columns, whole = in / lanes * lanes;
  const float* rows[Rows];
  for (int r = 0; r < Rows; ++r) rows[r] = x.row(first_row + r);
  vecf sums[Rows][panel] = {};
  for (int64_t i = 0; i < whole; i += lanes, weights += panel * lanes) {
#pragma GCC unroll 8
    for (int p = 0; p < panel; ++p) {
      const vecf weight = load(weights + p * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sums[r][p] += weight * load(rows[r] + i);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    const vecf rest = load(rows[r] + whole, in - whole);
    float* to = out.row(first_row + r) + column;
#pragma GCC unroll 8
    for (int p = 0; p < panel; ++p) {
      if (whole < in) sums[r][p] += load(weights + p * lanes) * rest;
      const float sum = sum_lanes(sums[r][p]);
      if (p < columns) to[p] = Add ? to[p] + sum : sum;
    }
  }
}

// All rows of x against blocks of panels that stay in cache while the rows pass by.
template <bool Add>
static void multiply_rows(Context& ctx, int num_rows, const View& out, const View& x, const Linear& weight) {
  const int64_t size = panel_size(weight.in), bytes = size * int64_t{sizeof(Weight)};
  const int64_t block = std::max<int64_t>(1, (96 << 10) / bytes);
  const int64_t grain = std::max<int64_t>(1, (128 << 10) / bytes);  // long streams, and yet a late thread costs little
  parallel_for(ctx, round_up(weight.out, panel) / panel, grain, [&](int64_t begin, int64_t end) {
    for (int64_t from = begin; from < end; from += block) {
      for (int row = 0; row < num_rows; row += tile) {
        for (int64_t p = from; p < std::min(end, from + block); ++p) {
          const Weight* weights = weight.weights.as<const Weight>() + p * size;
          const int columns = static_cast<int>(std::min<int64_t>(panel, weight.out - p * panel));
          if (num_rows - row >= tile) multiply<tile, Add>(weights, x, row, out, p * panel, columns);
          else for (int r = row; r < num_rows; ++r) multiply<1, Add>(weights, x, r, out, p * panel, columns);
        }
      }
    }
  });
}

Linear load_linear(Context& ctx, std::span<const Tensor* const> stacked) {
  const int64_t in = stacked[0]->shape[1];
  int64_t out = 0;
  for (const Tensor* tensor : stacked) out += tensor->shape[0];
  const size_t bytes = static_cast<size_t>(round_up(out, panel) * round_up(in, lanes)) * sizeof(Weight);
  Memory weights(bytes, Memory::Pages::huge);
  Weight* to = weights.as<Weight>();
  int64_t base = 0;
  for (const Tensor* tensor : stacked) {
    parallel_for(ctx, tensor->shape[0], 64, [&](int64_t begin, int64_t end) {
      std::vector<float> values(static_cast<size_t>(in));
      for (int64_t row = begin; row < end; ++row) {
        to_f32(*tensor, row * in, in, values.data());
        for (int64_t i = 0; i < in; ++i) to[place(in, base + row, i)] = values[static_cast<size_t>(i)];
      }
    });
    base += tensor->shape[0];
  }
  return {static_cast<int32_t>(out), static_cast<int32_t>(in), std::move(weights)};
}

void linear(Context& ctx, int num_rows, View out, View x, const Linear& weight) {
  multiply_rows<false>(ctx, num_rows, out, x, weight);
}

void linear_add(Context& ctx, int num_rows, View out, View x, const Linear& weight) {
  multiply_rows<true>(ctx, num_rows, out, x, weight);
}

void linear_rows(Context&, int num_rows, const Row* rows, View out, const Linear& weight) {
  const Weight* from = weight.weights.as<const Weight>();
  for (int r = 0; r < num_rows; ++r) {
    float* to = out.row(r);
    for (int64_t i = 0; i < weight.in; ++i) to[i] = from[place(weight.in, rows[r].token, i)];
  }
}
