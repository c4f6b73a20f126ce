// SPDX-License-Identifier: MIT
// linear.dense: out[rows, out] = x[rows, in] W^T, x and out f32, W bf16; f32 sums in `lanes` chains per element.
// W is packed in panels of 4 rows, interleaved by vectors, so that one token's pass reads memory in one stream and a
// tile of several tokens reuses every converted vector. Each output element is summed in the same order in every
// tile: bitwise the same alone, in a batch, for any thread count. Target: any x86-64; max |error| ~1e-6 * |x||w|.
// applies: hardware.platform=cpu-x86_64, numerics.weights=bf16
#include "linear_dense.h"

#include "runtime_threading.h"

namespace {

using Weight = uint16_t;
constexpr int panel = 4;
constexpr int tile = lanes >= 16 ? 6 : 3;  // token rows of a tile: tile * panel sums stay in registers
typedef uint16_t vech __attribute__((vector_size(2 * lanes)));

vecf load_weights(const Weight* from) {
  vech half;
  std::memcpy(&half, from, sizeof half);
  return vecf(__builtin_convertvector(half, veci) << 16);  // the same bits
}

Weight to_weight(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<Weight>(bits >> 16 | 0x40);  // NaN stays NaN
  return static_cast<Weight>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float from_weight(Weight weight) {
  const uint32_t bits = uint32_t{weight} << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

int64_t panel_size(int64_t in) { return panel * round_up(in, lanes); }
// Place of element (row, column).
int64_t place(int64_t in, int64_t row, int64_t column) {
  return row / panel * panel_size(in) + column / lanes * (panel * lanes) + row % panel * lanes + column % lanes;
}

// Dot products of Rows rows of x with the 4 rows of a panel, stored or added.
template <int Rows, bool Add>
void multiply(const Weight* weights, const View& x, int64_t first_row, const View& out, int64_t column, int columns) {
  const int64_t in = x.columns, whole = in / lanes * lanes;
  const float* rows[Rows];
  for (int r = 0; r < Rows; ++r) rows[r] = x.row(first_row + r);
  vecf sums[Rows][panel] = {};
  for (int64_t i = 0; i < whole; i += lanes, weights += panel * lanes) {
    vecf inputs[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) inputs[r] = load(rows[r] + i);
#pragma GCC unroll 8
    for (int p = 0; p < panel; ++p) {
      const vecf weight = load_weights(weights + p * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sums[r][p] += weight * inputs[r];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    const vecf rest = load_some(rows[r] + whole, in - whole);
    float* to = out.row(first_row + r) + column;
#pragma GCC unroll 8
    for (int p = 0; p < panel; ++p) {
      if (whole < in) sums[r][p] += load_weights(weights + p * lanes) * rest;
      const float sum = sum_lanes(sums[r][p]);
      if (p < columns) to[p] = Add ? to[p] + sum : sum;
    }
  }
}

// All rows of x against panels [begin, end): a block of panels stays in cache while the rows pass by.
template <bool Add>
void multiply_panels(const Linear& weight, int num_rows, const View& x, const View& out, int64_t begin, int64_t end) {
  const int64_t size = panel_size(weight.in);
  const int64_t block = std::max<int64_t>(1, (int64_t{96} << 10) / (size * int64_t{sizeof(Weight)}));
  for (int64_t from = begin; from < end; from += block) {
    const int64_t to = std::min(end, from + block);
    for (int row = 0; row < num_rows;) {
      const bool full = num_rows - row >= tile;
      for (int64_t p = from; p < to; ++p) {
        const Weight* weights = weight.weights.as<const Weight>() + p * size;
        const int columns = static_cast<int>(std::min<int64_t>(panel, weight.out - p * panel));
        if (full) {
          multiply<tile, Add>(weights, x, row, out, p * panel, columns);
        } else {
          for (int r = row; r < num_rows; ++r) multiply<1, Add>(weights, x, r, out, p * panel, columns);
        }
      }
      row = full ? row + tile : num_rows;
    }
  }
}

int64_t panels_of(const Linear& weight) { return round_up(weight.out, panel) / panel; }
// Pieces of about 128 KiB of weights: long streams, and yet a late thread costs little.
int64_t grain_of(const Linear& weight) {
  return std::max<int64_t>(1, (int64_t{128} << 10) / (panel_size(weight.in) * int64_t{sizeof(Weight)}));
}

}  // namespace

Linear load_linear(Context& ctx, std::span<const Tensor* const> stacked) {
  const int64_t in = stacked[0]->shape[1];
  int64_t out = 0;
  for (const Tensor* tensor : stacked) out += tensor->shape[0];
  const int64_t elements = round_up(out, panel) / panel * panel_size(in);
  Linear weight{static_cast<int32_t>(out), static_cast<int32_t>(in),
                HostMemory(static_cast<size_t>(elements) * sizeof(Weight), HostMemory::Pages::huge)};
  Weight* to = weight.weights.as<Weight>();
  int64_t base = 0;
  for (const Tensor* tensor : stacked) {
    parallel_for(ctx, tensor->shape[0], 64, [&](int64_t begin, int64_t end) {
      std::vector<float> values(static_cast<size_t>(in));
      for (int64_t row = begin; row < end; ++row) {
        to_f32(*tensor, row * in, in, values.data());
        for (int64_t i = 0; i < in; ++i) to[place(in, base + row, i)] = to_weight(values[static_cast<size_t>(i)]);
      }
    });
    base += tensor->shape[0];
  }
  return weight;
}

void linear(Context& ctx, int num_rows, View out, View x, const Linear& weight) {
  parallel_for(ctx, panels_of(weight), grain_of(weight), [&](int64_t begin, int64_t end) {
    multiply_panels<false>(weight, num_rows, x, out, begin, end);
  });
}

void linear_add(Context& ctx, int num_rows, View out, View x, const Linear& weight) {
  parallel_for(ctx, panels_of(weight), grain_of(weight), [&](int64_t begin, int64_t end) {
    multiply_panels<true>(weight, num_rows, x, out, begin, end);
  });
}

void linear_row(const Linear& weight, int64_t row, float* out) {
  const Weight* from = weight.weights.as<const Weight>();
  for (int64_t i = 0; i < weight.in; ++i) out[i] = from_weight(from[place(weight.in, row, i)]);
}
