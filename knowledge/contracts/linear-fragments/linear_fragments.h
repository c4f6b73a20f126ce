// SPDX-License-Identifier: MIT
// linear.fragments: a weight matrix packed as the tensor cores take it, and the products with it: sums over x[row] of
// f32 activations, exact parts of bf16 each, in one order of additions whatever the number of rows.
//
// What a block-level contract calls (host functions; everything they are given lies in device memory):
//   Memory packed = pack_fragments(ctx, out, in, fill);          // at load; fill(row, values) as below
//   Fragments w = fragments_of(packed, out, in);
//   multiply(num_rows, x, w, epilogue);                          // any number of rows
//   multiply_normed(num_rows, x, gain, w, epilogue);             // num_rows <= few_rows: RMS norm of x comes first
// An epilogue is a struct of plain values, called once for each row and each pair of packed outputs:
//   __device__ void operator()(int64_t row, int output, float low, float high) const;
//     // low: the sum of packed output `output`, high: that of output + 16; output % 32 < 16; either may be >= w.out
#pragma once
#include "runtime_cuda.h"
#include "runtime_memory.h"
#include "runtime_threading.h"

inline constexpr int step_columns = 16;  // columns of x that one tensor-core product takes
inline constexpr int stripe = 16;        // outputs that it gives
inline constexpr int tile_rows = 8;      // rows of x that it takes
inline constexpr int band = 2 * stripe;  // outputs that a warp sums at once
inline constexpr int step_tiles = 2 * 32;  // pieces of 16 bytes of a step of a band
inline constexpr int max_slices = 12;    // warps that share the columns of a band: no more, for 168 registers a thread
inline constexpr int batch = 8;          // steps of weights that a warp has on their way
inline constexpr int few_rows = tile_rows;
inline constexpr int medium_rows = 128;  // more are bound by arithmetic: another kernel, the same sums

// Step s of band b: 2 stripes of 32 lanes of 16 bytes. With g = lane / 4, t = lane % 4, a lane holds, of its stripe,
// columns 16s + 4t, + 1 of outputs g and g + 8, then columns 16s + 4t + 2, + 3 of the same: so its four values of x are
// contiguous. Zeros where there is no such output or column.
struct Fragments {
  const uint4* tiles;  // [bands][steps][2][32]
  int32_t out, in;
  int32_t steps;  // of 16 columns
  int32_t slice;  // steps that are summed in one chain, a multiple of `batch`; follows from `in` alone
  int64_t bands() const { return (out + band - 1) / band; }
  int slices() const { return (steps + slice - 1) / slice; }
};

inline Fragments fragments_of(const Memory& packed, int64_t out, int64_t in) {
  const int64_t steps = round_up(in, step_columns) / step_columns;
  const int64_t slice = round_up(steps, batch * max_slices) / max_slices;
  return {packed.as<const uint4>(), static_cast<int32_t>(out), static_cast<int32_t>(in), static_cast<int32_t>(steps),
          static_cast<int32_t>(slice)};
}

// To the weight format, nearest even; beyond its range infinite.
inline uint16_t to_weight(float value) {
  if constexpr (config::weights_f16) return __half_as_ushort(__float2half_rn(value));
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN stays NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__device__ inline float from_weight(uint32_t bits) {
  if constexpr (config::weights_f16) return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
  return __uint_as_float(bits << 16);
}

// Writes row `output` of a band (values[in]) to its places; words are pairs of weights.
inline void place_row(uint32_t* words /*[steps][2][32][4]*/, int output, const float* values, int64_t in) {
  const int g = output % 8, upper = output % stripe / 8;
  const auto pair = [&](int64_t k) {
    return (k < in ? uint32_t{to_weight(values[k])} : 0) | (k + 1 < in ? uint32_t{to_weight(values[k + 1])} << 16 : 0);
  };
  for (int64_t k = 0; k < in; k += 4) {
    const int64_t tile = k / step_columns * 2 + output / stripe, lane = 4 * g + k % step_columns / 4;
    uint32_t* to = words + (tile * warp_size + lane) * 4 + upper;
    to[0] = pair(k);
    to[2] = pair(k + 2);
  }
}

// A packed matrix [out, in]. fill(row, values) writes packed row `row` (values[in]) and returns true, or returns false:
// a row of zeros. Packed on all threads, in pieces, so that host memory stays small.
template <typename Fill>
Memory pack_fragments(Context& ctx, int64_t out, int64_t in, const Fill& fill) {
  const int64_t bands = (out + band - 1) / band, steps = round_up(in, step_columns) / step_columns;
  const int64_t band_words = steps * 2 * warp_size * 4, piece = std::max<int64_t>(1, (8 << 20) / band_words);
  Memory packed(static_cast<size_t>(bands * band_words) * 4, Memory::Pages::huge);
  std::vector<uint32_t> staging(static_cast<size_t>(std::min(piece, bands) * band_words));
  for (int64_t first = 0; first < bands; first += piece) {
    const int64_t count = std::min(piece, bands - first);
    parallel_for(ctx, count, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> values(static_cast<size_t>(in));
      for (int64_t b = begin; b < end; ++b) {
        uint32_t* words = staging.data() + b * band_words;
        std::fill_n(words, band_words, 0);
        for (int row = 0; row < band; ++row) {
          const int64_t output = (first + b) * band + row;
          if (output < out && fill(output, values.data())) place_row(words, row, values.data(), in);
        }
      }
    });
    const size_t bytes = static_cast<size_t>(count * band_words) * 4;
    copy_memory(packed.as<uint32_t>() + first * band_words, staging.data(), bytes);
  }
  return packed;
}

// ---- RMS norm: the same sums in a kernel of its own and in front of a product.

// Four values from column k on; zero where there is none, so that nothing behind a row counts.
__device__ inline float4 load_four(const float* row /*16-byte aligned*/, int k, int n) {
  if (k + 4 <= n) return *reinterpret_cast<const float4*>(row + k);
  return make_float4(k < n ? row[k] : 0, k + 1 < n ? row[k + 1] : 0, k + 2 < n ? row[k + 2] : 0, 0);
}

// A row's squares are summed in at most 16 chunks of whole float4s of a warp; follows from n alone.
inline constexpr int norm_chunks = 16;
__device__ inline int norm_chunk(int n) {
  constexpr int least = 4 * warp_size;
  return (n + norm_chunks * least - 1) / (norm_chunks * least) * least;
}

// By one warp; every lane gets it.
__device__ inline float chunk_squares(const float* row, int chunk, int n) {
  const int size = norm_chunk(n), end = min(n, (chunk + 1) * size);
  float sum = 0;
  for (int k = chunk * size + 4 * static_cast<int>(threadIdx.x % warp_size); k < end; k += 4 * warp_size) {
    const float4 v = load_four(row, k, n);
    sum = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, sum))));
  }
  return warp_sum(sum);
}

// 1 / sqrt(mean of squares + eps) from the chunks' sums.
__device__ inline float inverse_rms(const float* chunks, int n) {
  float sum = 0;
  for (int c = 0; c * norm_chunk(n) < n; ++c) sum += chunks[c];
  return 1.0f / sqrtf(sum / static_cast<float>(n) + config::rms_norm_eps);
}

// fmaf, so that no compiler draws the last product into an addition that follows and rounds it otherwise there.
__device__ inline float4 normalise(float4 v, float scale, float4 gain) {
  return make_float4(fmaf(v.x * scale, gain.x, 0), fmaf(v.y * scale, gain.y, 0), fmaf(v.z * scale, gain.z, 0),
                     fmaf(v.w * scale, gain.w, 0));
}

// ---- The product of one step.

// Four values as three bf16 each that sum to them exactly: the upper 8 bits of the significand, the next 8, the rest.
struct Parts {
  uint32_t high[2], middle[2], low[2];
};

__device__ inline uint32_t upper_halves(uint32_t first, uint32_t second) {
  return first >> 16 | (second & 0xffff0000u);
}

__device__ inline float rest_of(float value) { return value - __uint_as_float(__float_as_uint(value) & 0xffff0000u); }

__device__ inline void split_pair(float a, float b, uint32_t& high, uint32_t& middle, uint32_t& low) {
  high = upper_halves(__float_as_uint(a), __float_as_uint(b));
  a = rest_of(a);
  b = rest_of(b);
  middle = upper_halves(__float_as_uint(a), __float_as_uint(b));
  low = upper_halves(__float_as_uint(rest_of(a)), __float_as_uint(rest_of(b)));
}

__device__ inline Parts split(float4 v) {
  Parts parts;
  split_pair(v.x, v.y, parts.high[0], parts.middle[0], parts.low[0]);
  split_pair(v.z, v.w, parts.high[1], parts.middle[1], parts.low[1]);
  return parts;
}

// A lane's weights of a stripe as bf16: themselves, or f16 as the sum of two.
struct WeightParts {
  uint32_t high[4], low[4];
};

__device__ inline WeightParts weights_of(uint4 tile) {
  WeightParts parts{{tile.x, tile.y, tile.z, tile.w}, {}};
  if constexpr (config::weights_f16) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float a = from_weight(parts.high[i] & 0xffffu), b = from_weight(parts.high[i] >> 16);
      parts.high[i] = upper_halves(__float_as_uint(a), __float_as_uint(b));
      parts.low[i] = upper_halves(__float_as_uint(rest_of(a)), __float_as_uint(rest_of(b)));
    }
  }
  return parts;
}

// sums[stripe] += W x^T of 16 columns and 8 rows. The small parts first, from zero, then one rounded addition: a tensor
// core cuts off what falls below its sum, and along a whole row that would be a bias.
template <int Stripes>
__device__ inline void add_step(float (&sums)[Stripes][4], const WeightParts (&weights)[Stripes], const Parts& x) {
  float products[Stripes][4] = {};
  const auto add = [&](bool high, const uint32_t (&part)[2]) {
#pragma unroll
    for (int s = 0; s < Stripes; ++s) mma_bf16(products[s], high ? weights[s].high : weights[s].low, part);
  };
  if constexpr (config::weights_f16) add(false, x.middle);  // low times low is below 2^-22 of the product
  add(true, x.low);
  if constexpr (config::weights_f16) add(false, x.high);
  add(true, x.middle);
  add(true, x.high);
#pragma unroll
  for (int s = 0; s < Stripes; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[s][i] += products[s][i];
  }
}

// ---- Few and medium rows: the warps of a block share the columns of a band, and every block walks over bands.

// What is multiplied: rows of f32, each beginning 16-byte aligned.
struct Input {
  const float* data;
  int64_t stride;
  int32_t rows;
  const float* gain;  // of the RMS norm, where there is one
};

inline constexpr int row_floats = band + 4;  // so that a warp's stores of sums meet 32 different banks
inline constexpr int slice_floats = tile_rows * row_floats;

// A warp's sums of a tile: sums[stripe][0, 1]: output g of rows 2t, 2t + 1, [2, 3]: output g + 8.
__device__ inline void put_sums(float* to /*[tile_rows][row_floats]*/, const float (&sums)[2][4]) {
  const int lane = threadIdx.x % warp_size, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int s = 0; s < 2; ++s) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[(2 * t + i % 2) * row_floats + s * stripe + i / 2 * 8 + g] = sums[s][i];
  }
}

// Adds the slices' sums in order, on the whole block.
template <typename Epilogue>
__device__ inline void combine_slices(const float* partial /*[slices][tile_rows][row_floats]*/, int first_row,
                                      int num_rows, int first_output, const Epilogue& epilogue) {
  const int slices = blockDim.x / warp_size;
  for (int i = threadIdx.x; i < tile_rows * stripe; i += blockDim.x) {
    const int row = i / stripe, output = i % stripe;
    if (first_row + row >= num_rows) return;
    const float* from = partial + row * row_floats + output;
    float low = 0, high = 0;
#pragma unroll 4
    for (int s = 0; s < slices; ++s) {
      low += from[s * slice_floats];
      high += from[s * slice_floats + stripe];
    }
    epilogue(first_row + row, first_output + output, low, high);
  }
}

// scales[row] = 1 / rms of each of the rows, on the whole block.
__device__ inline void find_scales(float* scales /*[few_rows]*/, float* chunks /*[few_rows][norm_chunks]*/,
                                   const Input& x, int n) {
  const int count = (n + norm_chunk(n) - 1) / norm_chunk(n), warps = blockDim.x / warp_size;
  for (int i = threadIdx.x / warp_size; i < x.rows * count; i += warps) {
    const int row = i / count, chunk = i % count;
    const float sum = chunk_squares(x.data + row * x.stride, chunk, n);
    if (threadIdx.x % warp_size == 0) chunks[row * norm_chunks + chunk] = sum;
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < x.rows) scales[threadIdx.x] = inverse_rms(chunks + threadIdx.x * norm_chunks, n);
  __syncthreads();
}

// A lane's values of x: four columns of row lane / 4 of each tile. A row past the last one is the last one again: its
// sums are its own and nobody stores them.
template <int Tiles>
struct InputRows {
  const float* data;
  uint32_t first[Tiles];  // floats in front of the row; input_of checks that 32 bits hold them
  float scale;
};

template <int Tiles>
__device__ inline InputRows<Tiles> input_rows(const Input& x, int64_t first_row) {
  InputRows<Tiles> rows{x.data, {}, 1};
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    const int64_t row = first_row + tile * tile_rows + threadIdx.x % warp_size / 4;
    rows.first[tile] = static_cast<uint32_t>((row < x.rows ? row : x.rows - 1) * x.stride);
  }
  return rows;
}

// Steps whose columns are all there.
template <int Steps, int Tiles, bool Normed>
__device__ inline void add_steps(float (&sums)[Tiles][2][4], const uint4 (&weights)[Steps][2],
                                 const InputRows<Tiles>& rows, const float* gain, int first) {
  const int column = first * step_columns + static_cast<int>(threadIdx.x) % 4 * 4;
#pragma unroll
  for (int s = 0; s < Steps; ++s) {
    const WeightParts parts[2] = {weights_of(weights[s][0]), weights_of(weights[s][1])};
    const int k = column + s * step_columns;
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      float4 x = __ldg(reinterpret_cast<const float4*>(rows.data + rows.first[tile] + k));
      if constexpr (Normed) x = normalise(x, rows.scale, __ldg(reinterpret_cast<const float4*>(gain + k)));
      add_step(sums[tile], parts, split(x));
    }
  }
}

// A step that may lack columns, one at a time.
template <int Tiles, bool Normed>
__device__ inline void add_last_step(float (&sums)[Tiles][2][4], const uint4* weights, const InputRows<Tiles>& rows,
                                     const float* gain, int step, int in) {
  const WeightParts parts[2] = {weights_of(__ldg(weights)), weights_of(__ldg(weights + warp_size))};
  const int k = step * step_columns + static_cast<int>(threadIdx.x) % 4 * 4;
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    float4 x = load_four(rows.data + rows.first[tile], k, in);
    if constexpr (Normed) x = normalise(x, rows.scale, load_four(gain, k, in));
    add_step(sums[tile], parts, split(x));
  }
}

template <int Steps>
__device__ inline void load_steps(uint4 (&weights)[Steps][2], const uint4* from) {
#pragma unroll
  for (int s = 0; s < Steps; ++s) {
    weights[s][0] = load_once(from + s * step_tiles);
    weights[s][1] = load_once(from + s * step_tiles + warp_size);
  }
}

// One unit: a band and Tiles * 8 rows; the groups of rows of a band are neighbours, so that they find it in L2. A warp
// sums its slice: whole batches on their way early, then what is left of a row whose length is no multiple of them.
// A batch is waited for and loaded again as a whole: the compiler counts all loads on their way together, so a wait for
// the oldest step of a ring would be a wait for the newest. Places count 16 bytes: 32 bits reach 64 GiB.
template <int Tiles, bool Normed, typename Epilogue>
__global__ void __launch_bounds__(max_slices* warp_size, 1)
    multiply_slices(Fragments w, int units, int groups, Input x, Epilogue epilogue) {
  constexpr int steps = Tiles == 1 ? batch : batch / 4;  // as registers allow
  __shared__ float partial[2][max_slices * slice_floats];
  __shared__ float scales[few_rows], chunks[few_rows * norm_chunks];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int begin = warp * w.slice, whole = w.in / (batch * step_columns) * batch, end = min(begin + w.slice, whole);
  const auto band_of = [&](int unit) { return Tiles == 1 ? unit : unit / groups; };
  const auto place_of = [&](int unit, int step) {
    return static_cast<uint32_t>(band_of(unit) * w.steps + step) * step_tiles + lane;
  };
  uint32_t next = place_of(blockIdx.x, begin);
  uint4 weights[steps][2];
  if (begin < end) load_steps(weights, w.tiles + next);
  if constexpr (Normed) find_scales(scales, chunks, x, w.in);
  int turn = 0;
  for (int unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const int first_row = Tiles == 1 ? 0 : unit % groups * (Tiles * tile_rows);
    InputRows<Tiles> rows = input_rows<Tiles>(x, first_row);
    if constexpr (Normed) rows.scale = scales[min(lane / 4, x.rows - 1)];
    float sums[Tiles][2][4] = {};
    for (int step = begin; step < end; step += steps) {
      add_steps<steps, Tiles, Normed>(sums, weights, rows, x.gain, step);
      const bool is_last = step + steps >= end;
      if (is_last) next = place_of(unit + gridDim.x, begin);
      else next += steps * step_tiles;
      if (!is_last || unit + static_cast<int>(gridDim.x) < units) load_steps(weights, w.tiles + next);
    }
    for (int step = max(begin, whole); step < min(begin + w.slice, w.steps); ++step)
      add_last_step<Tiles, Normed>(sums, w.tiles + place_of(unit, step), rows, x.gain, step, w.in);
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile, turn ^= 1) {
      put_sums(partial[turn] + warp * slice_floats, sums[tile]);
      __syncthreads();
      combine_slices(partial[turn], first_row + tile * tile_rows, x.rows, band_of(unit) * band, epilogue);
    }
  }
}

// ---- Many rows: a warp sums 64 outputs of 32 rows over all columns, slice after slice.

inline constexpr int many_bands = 2, many_tiles = 4;   // of a warp
inline constexpr int many_warps_out = 2, many_warps_rows = 2;  // of a block

template <typename Epilogue>
__global__ void __launch_bounds__(many_warps_out* many_warps_rows* warp_size, 2)
    multiply_many(Fragments w, int bands, Input x, Epilogue epilogue) {
  constexpr int stripes = 2 * many_bands;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, g = lane / 4, t = lane % 4;
  const int first_band = (blockIdx.y * many_warps_out + warp % many_warps_out) * many_bands;
  const int64_t first_row = (int64_t{blockIdx.x} * many_warps_rows + warp / many_warps_out) * (many_tiles * tile_rows);
  if (first_band >= bands || first_row >= x.rows) return;
  const int64_t band_tiles = int64_t{w.steps} * (2 * warp_size);
  const uint4* tiles = w.tiles + first_band * band_tiles + lane;
  const int64_t second = first_band + 1 < bands ? band_tiles : 0;  // no second band: the first again, and not stored
  const InputRows<many_tiles> rows = input_rows<many_tiles>(x, first_row);
  float totals[many_tiles][stripes][4] = {};
  for (int begin = 0; begin < w.steps; begin += w.slice) {
    float sums[many_tiles][stripes][4] = {};
    const int end = min(w.steps, begin + w.slice);
    for (int step = begin; step < end; ++step) {
      const uint4* from = tiles + int64_t{step} * (2 * warp_size);
      const WeightParts weights[stripes] = {weights_of(__ldg(from)), weights_of(__ldg(from + warp_size)),
                                            weights_of(__ldg(from + second)),
                                            weights_of(__ldg(from + second + warp_size))};
#pragma unroll
      for (int tile = 0; tile < many_tiles; ++tile)
        add_step(sums[tile], weights, split(load_four(rows.data + rows.first[tile], step * step_columns + 4 * t, w.in)));
    }
#pragma unroll
    for (int tile = 0; tile < many_tiles; ++tile) {
#pragma unroll
      for (int s = 0; s < stripes; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) totals[tile][s][i] += sums[tile][s][i];
      }
    }
  }
#pragma unroll
  for (int tile = 0; tile < many_tiles; ++tile) {
#pragma unroll
    for (int b = 0; b < many_bands; ++b) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int64_t row = first_row + tile * tile_rows + 2 * t + i % 2;
        const int output = (first_band + b) * band + i / 2 * 8 + g;
        if (row < x.rows && first_band + b < bands)
          epilogue(row, output, totals[tile][2 * b][i], totals[tile][2 * b + 1][i]);
      }
    }
  }
}

// ---- What a contract calls.

inline int multiprocessors() {
  static const int count = [] {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, 0), "device properties");
    return properties.multiProcessorCount;
  }();
  return count;
}

template <int Tiles, bool Normed, typename Epilogue>
void launch_slices(const Input& x, const Fragments& w, const Epilogue& epilogue) {
  const int groups = (x.rows + Tiles * tile_rows - 1) / (Tiles * tile_rows);
  const int units = static_cast<int>(w.bands()) * groups, slices = w.slices();
  const int blocks = std::min(units, multiprocessors() * (max_slices / slices));
  launch("product of rows with a matrix", multiply_slices<Tiles, Normed, Epilogue>, dim3(unsigned(blocks)),
         dim3(unsigned(slices * warp_size)), w, units, groups, x, epilogue);
}

inline Input input_of(int num_rows, const View& x, const float* gain) {
  if (num_rows * x.row_stride >> 32 != 0) throw EngineError("too many rows in one product: an engine defect");
  return {static_cast<const float*>(x.data), x.row_stride, num_rows, gain};
}

// epilogue gets x W^T.
template <typename Epilogue>
void multiply(int num_rows, View x /*[num_rows, w.in]*/, const Fragments& w, const Epilogue& epilogue) {
  const Input input = input_of(num_rows, x, nullptr);
  if (num_rows <= few_rows) return launch_slices<1, false>(input, w, epilogue);
  if (num_rows <= medium_rows) return launch_slices<4, false>(input, w, epilogue);
  constexpr int block_bands = many_bands * many_warps_out, block_rows = many_tiles * tile_rows * many_warps_rows;
  const int bands = static_cast<int>(w.bands());
  launch("product of many rows with a matrix", multiply_many<Epilogue>,
         dim3(unsigned((num_rows + block_rows - 1) / block_rows), unsigned((bands + block_bands - 1) / block_bands)),
         dim3(many_warps_out * many_warps_rows * warp_size), w, bands, input, epilogue);
}

// epilogue gets rms_norm(x, gain) W^T, the bits of norm.rms and multiply. num_rows <= few_rows.
template <typename Epilogue>
void multiply_normed(int num_rows, View x /*[num_rows, w.in]*/, const float* gain /*[w.in]*/, const Fragments& w,
                     const Epilogue& epilogue) {
  launch_slices<1, true>(input_of(num_rows, x, gain), w, epilogue);
}

// out = the sums.
struct StoreSums {
  float* data;
  int64_t stride;
  int32_t out;
  __device__ void operator()(int64_t row, int output, float low, float high) const {
    float* to = data + row * stride + output;
    if (output < out) to[0] = low;
    if (output + stripe < out) to[stripe] = high;
  }
};

// out += the sums.
struct AddSums {
  float* data;
  int64_t stride;
  int32_t out;
  __device__ void operator()(int64_t row, int output, float low, float high) const {
    float* to = data + row * stride + output;
    if (output < out) to[0] += low;
    if (output + stripe < out) to[stripe] += high;
  }
};
