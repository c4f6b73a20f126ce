// SPDX-License-Identifier: MIT
// attention.core, CUDA: out[rows, num_heads*head_dim] = softmax(q k^T / sqrt(head_dim)) v per head, f32. The cache is cut
// into chunks of 64 keys at multiples of 64, whatever window and batch are; a chunk has its largest score, its sum of
// weights and its weighted values (8 strips of 8 keys, each one chain, added in order), and chunks are joined in order.
// Few rows: a block has one chunk of one row and KV head, its keys and values read once for all query heads, and a
// second kernel joins. Many rows: a block has neighbouring rows and walks through the chunks. Both add in the same
// order. Target: sm_80, sm_90; max |error| 1e-6 * max |v|.
// applies: hardware.platform=cuda, serving.kv=contiguous
// requires: runtime.cuda
#include "attention_core.h"
#include "runtime_cuda.h"

namespace {
constexpr int head_dim = config::head_dim, quads = head_dim / 4, heads = config::num_heads;
constexpr int kv_heads = config::num_kv_heads, group = heads / kv_heads;
constexpr int64_t kv_head_floats = KvCache::positions * head_dim;
constexpr int chunk = 64, strip = 8, strips = chunk / strip;
constexpr int chunks = (config::max_context + chunk - 1) / chunk;
constexpr int threads = 256, warps = threads / warp_size;
constexpr int padded_quads = quads | 1;  // an odd number of 16-byte steps: 8 rows lie in different banks

static_assert(head_dim % 4 == 0 && head_dim <= 256 && KvCache::lanes == 1, "keys and values are rows of 16-byte loads");

// What all kernels get: the layer's cache from slot 0 on, and the rows.
struct Attention {
  const Row* rows;
  View q;
  const float *keys, *values;
  int window;
  float scale;
};
struct Range {
  int first, last;
};

__device__ Range visible_keys(const Attention& in, int64_t row) {
  const int last = in.rows[row].position;
  return {in.window == 0 ? 0 : max(0, last - in.window + 1), last};
}
__device__ bool has(Range range, int position) { return position >= range.first && position <= range.last; }
__device__ bool meets(Range range, int begin) { return range.first < begin + chunk && range.last >= begin; }

__device__ const float4* head_of(const float* cache, int slot, int kv_head) {
  return reinterpret_cast<const float4*>(cache + (int64_t{slot} * kv_heads + kv_head) * kv_head_floats);
}

__device__ void add_products(float& sum, float4 a, float4 b) {
  sum = fmaf(a.x, b.x, sum);
  sum = fmaf(a.y, b.y, sum);
  sum = fmaf(a.z, b.z, sum);
  sum = fmaf(a.w, b.w, sum);
}
__device__ void add_scaled(float4& sum, float weight, float4 value) {
  sum.x = fmaf(weight, value.x, sum.x);
  sum.y = fmaf(weight, value.y, sum.y);
  sum.z = fmaf(weight, value.z, sum.z);
  sum.w = fmaf(weight, value.w, sum.w);
}
__device__ void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}
// What was summed until now under one maximum, and a chunk under its own, under their common one.
__device__ float join_sums(float sum, float kept, float value, float added) { return fmaf(sum, kept, value * added); }

// What is not seen gets no weight, whatever the product is.
__device__ float to_score(float product, float scale, bool is_seen) { return is_seen ? product * scale : -INFINITY; }

// By one warp: scores become weights relative to the largest; returns it and the sum of the weights.
__device__ float2 weigh_chunk(float* scores /*[chunk]*/) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const float a = scores[lane], b = scores[lane + warp_size];
  const float largest = warp_max(fmaxf(a, b));
  const float weight_a = expf(a - largest), weight_b = expf(b - largest);
  scores[lane] = weight_a;
  scores[lane + warp_size] = weight_b;
  return make_float2(largest, warp_sum(weight_a + weight_b));
}

// ---- Few rows: one block per chunk ----

constexpr int parts = std::min(chunks, 128);                    // blocks that share the chunks of a row and KV head
constexpr int key_tile = head_dim <= 128 ? chunk : chunk / 2;   // keys in shared memory at once
constexpr int tile_quads = key_tile * padded_quads;
constexpr int strips_at_once = std::min(strips, threads / quads);
constexpr int heads_at_once = std::min(group, tile_quads / (strips * quads));
constexpr int loads_at_once = 4;  // on their way per thread: more would not fit the registers
constexpr bool has_one_pass = strips_at_once == strips && heads_at_once == group;

__device__ void load_keys(float4* tile /*[key_tile, padded_quads]*/, const float4* keys, int begin, Range seen) {
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x); first < key_tile * quads; first += loads_at_once * threads) {
    float4 held[loads_at_once];
#pragma unroll
    for (int i = 0; i < loads_at_once; ++i) {
      const int at = first + i * threads;
      if (at < key_tile * quads && has(seen, begin + at / quads)) held[i] = __ldg(keys + int64_t{begin} * quads + at);
    }
#pragma unroll
    for (int i = 0; i < loads_at_once; ++i) {
      const int at = first + i * threads, key = at / quads;
      if (at < key_tile * quads && has(seen, begin + key)) tile[key * padded_quads + at % quads] = held[i];
    }
  }
}

__device__ void score_tile(float* scores /*[group, chunk], from the tile's first key*/, const float4* query,
                           const float4* tile, float scale, int begin, Range seen) {
  for (int at = static_cast<int>(threadIdx.x); at < key_tile * group; at += threads) {
    const int key = at % key_tile, head = at / key_tile;
    float product = 0;
#pragma unroll 4
    for (int quad = 0; quad < quads; ++quad)
      add_products(product, query[head * quads + quad], tile[key * padded_quads + quad]);
    scores[head * chunk + key] = to_score(product, scale, has(seen, begin + key));
  }
}

struct Strip {
  float4 values[strip];  // of one thread's four dimensions
};
__device__ void load_strip(Strip& held, const float4* values, int begin, Range seen) {
  const int quad = static_cast<int>(threadIdx.x) % quads;
#pragma unroll
  for (int i = 0; i < strip; ++i)
    if (has(seen, begin + i)) held.values[i] = __ldg(values + (int64_t{begin} + i) * quads + quad);
}

// A strip's weighted values for some heads, to partial[heads_at_once, strips, quads].
__device__ void sum_strip(float4* partial, const Strip& held, const float* weights /*of head and strip*/, int begin,
                          Range seen, int count) {
#pragma unroll
  for (int head = 0; head < heads_at_once; ++head) {
    if (head >= count) break;
    float4 sum = make_float4(0, 0, 0, 0);
    const float4* weight = reinterpret_cast<const float4*>(weights + head * chunk);
#pragma unroll
    for (int i = 0; i < strip; i += 4) {
      if (has(seen, begin + i)) add_scaled(sum, weight[i / 4].x, held.values[i]);
      if (has(seen, begin + i + 1)) add_scaled(sum, weight[i / 4].y, held.values[i + 1]);
      if (has(seen, begin + i + 2)) add_scaled(sum, weight[i / 4].z, held.values[i + 2]);
      if (has(seen, begin + i + 3)) add_scaled(sum, weight[i / 4].w, held.values[i + 3]);
    }
    partial[head * strips * quads] = sum;
  }
}

__device__ void add_strips(float4* out /*[count, quads]*/, const float4* partial, int64_t out_stride, int count) {
  for (int at = static_cast<int>(threadIdx.x); at < count * quads; at += threads) {
    const int head = at / quads, quad = at % quads;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int i = 0; i < strips; ++i) add(sum, partial[(head * strips + i) * quads + quad]);
    out[head * out_stride + quad] = sum;
  }
}

// Block (part of the chunks, KV head, row). For row * heads + head: sums [chunks, head_dim], scales [chunks, 2].
__global__ void __launch_bounds__(threads, 2) attend_chunks(Attention in, View sums, View scales) {
  __shared__ float4 query[group * quads];
  __shared__ float4 tile[tile_quads];  // keys, then partial sums
  __shared__ float4 score_memory[group * chunk / 4];
  float* const scores = reinterpret_cast<float*>(score_memory);
  const int thread = static_cast<int>(threadIdx.x), kv_head = static_cast<int>(blockIdx.y);
  const Range seen = visible_keys(in, blockIdx.z);
  const int64_t first_head = int64_t{blockIdx.z} * heads + kv_head * group;
  const float4* keys = head_of(in.keys, in.rows[blockIdx.z].slot, kv_head);
  const float4* values = head_of(in.values, in.rows[blockIdx.z].slot, kv_head);
  const float4* q = reinterpret_cast<const float4*>(row_of(in.q, blockIdx.z) + kv_head * group * head_dim);
  for (int index = static_cast<int>(blockIdx.x); index * chunk <= seen.last; index += parts) {
    const int begin = index * chunk;
    if (!meets(seen, begin)) continue;
    for (int at = thread; at < group * quads; at += threads) query[at] = q[at];
    const int own = thread / quads;  // of the strips at once
    Strip held;
    for (int key = 0; key < chunk; key += key_tile) {
      load_keys(tile, keys, begin + key, seen);
      if (has_one_pass && own < strips) load_strip(held, values, begin + own * strip, seen);
      __syncthreads();
      score_tile(scores + key, query, tile, in.scale, begin + key, seen);
      __syncthreads();
    }
    for (int head = thread / warp_size; head < group; head += warps) {
      const float2 scale = weigh_chunk(scores + head * chunk);
      if (thread % warp_size == 0) reinterpret_cast<float2*>(row_of(scales, first_head + head))[index] = scale;
    }
    __syncthreads();
    for (int head = 0; head < group; head += heads_at_once) {
      const int count = min(heads_at_once, group - head);
      for (int i = own; i < strips && own < strips_at_once; i += strips_at_once) {
        const int at = begin + i * strip;
        if (!has_one_pass) load_strip(held, values, at, seen);
        sum_strip(tile + i * quads + thread % quads, held, scores + head * chunk + i * strip, at, seen, count);
      }
      __syncthreads();
      add_strips(reinterpret_cast<float4*>(row_of(sums, first_head + head)) + int64_t{index} * quads, tile,
                 sums.row_stride / 4, count);
      __syncthreads();
    }
  }
}

constexpr int joined_at_once = 1024;
constexpr int join_threads = (head_dim + warp_size - 1) / warp_size * warp_size;

// By one warp, for `count` chunks: the factors by which the sum until then is kept and the chunk is added. The running
// maximum is a maximum over lanes before this one: exact in any order.
__device__ void find_factors(const float2* scales, int count, float& maximum, float2* factors, float* totals) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int begin = 0; begin < count; begin += warp_size) {
    const bool is_chunk = begin + lane < count;
    const float2 scale = is_chunk ? scales[begin + lane] : make_float2(-INFINITY, 0);
    float largest = scale.x;
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const float other = __shfl_sync(all_lanes, largest, max(lane - distance, 0));
      largest = fmaxf(largest, other);
    }
    const float after = fmaxf(maximum, largest);
    const float left = __shfl_sync(all_lanes, after, max(lane - 1, 0));
    const float before = lane == 0 ? maximum : left;
    if (is_chunk) {
      factors[begin + lane] = make_float2(expf(before - after), expf(scale.x - after));
      totals[begin + lane] = scale.y;
    }
    maximum = __shfl_sync(all_lanes, after, warp_size - 1);
  }
}

// Block (head, row), a thread per dimension.
__global__ void __launch_bounds__(join_threads) join_chunks(Attention in, View out, View sums, View scales) {
  __shared__ float2 factors[joined_at_once];
  __shared__ float totals[joined_at_once];
  const int thread = static_cast<int>(threadIdx.x);
  const Range seen = visible_keys(in, blockIdx.y);
  const int64_t head = int64_t{blockIdx.y} * heads + blockIdx.x;
  const float2* scale = reinterpret_cast<const float2*>(row_of(scales, head));
  const int dimension = min(thread, head_dim - 1);
  float maximum = -INFINITY, sum = 0, total = 0;
  for (int begin = seen.first / chunk; begin <= seen.last / chunk; begin += joined_at_once) {
    const int count = min(joined_at_once, seen.last / chunk + 1 - begin);
    if (thread < warp_size) find_factors(scale + begin, count, maximum, factors, totals);
    __syncthreads();
    const float* value = row_of(sums, head) + int64_t{begin} * head_dim + dimension;
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      sum = join_sums(sum, factors[i].x, value[int64_t{i} * head_dim], factors[i].y);
      total = join_sums(total, factors[i].x, totals[i], factors[i].y);
    }
    __syncthreads();
  }
  if (thread < head_dim) row_of(out, blockIdx.y)[int64_t{blockIdx.x} * head_dim + thread] = sum / total;
}

// ---- Many rows: one block per tile of rows and KV head ----

constexpr int pairs = head_dim <= 128 ? 32 : 16;  // (row, head) of a tile
constexpr int tile_rows = pairs / group;
constexpr int score_pairs = pairs / 16, score_keys = chunk / 16;  // products of one thread
constexpr int slice = 8;                                          // 16-byte steps of the keys in shared memory
constexpr int value_keys = head_dim <= 128 ? 16 : 8;              // values in shared memory
constexpr int owners = threads / quads;
constexpr int own_pairs = std::bit_ceil(unsigned{(pairs + owners - 1) / owners});
constexpr int padded_chunk = chunk + 4;
static_assert(tile_rows > 0, "the query heads of a KV head must fit a tile");

struct Tile {
  float4 query[pairs * padded_quads];
  float4 score_memory[pairs * padded_chunk / 4];
  float4 stage[std::max(chunk * (slice + 1), value_keys * quads)];  // part of a chunk's keys or values
  Range seen[pairs];
  float2 factors[pairs];
  float maxima[pairs], totals[pairs];
  // Then weights.
  __device__ float* scores(int pair) { return reinterpret_cast<float*>(score_memory) + pair * padded_chunk; }
};

// What a thread sums: four dimensions of some pairs.
struct Sums {
  float4 all[own_pairs], of_chunk[own_pairs];
};

__device__ void score_chunk(Tile& tile, const float4* keys, float scale, int begin, Range any) {
  const int thread = static_cast<int>(threadIdx.x), own_key = thread % 16, own_pair = thread / 16;
  float products[score_pairs][score_keys] = {};
  for (int first = 0; first < quads; first += slice) {
    __syncthreads();
#pragma unroll 1
    for (int at = thread; at < chunk * slice; at += threads) {
      const int key = at / slice, quad = at % slice;
      if (first + quad < quads && has(any, begin + key))
        tile.stage[key * (slice + 1) + quad] = __ldg(keys + (int64_t{begin} + key) * quads + first + quad);
    }
    __syncthreads();
#pragma unroll 1
    for (int quad = 0; quad < min(slice, quads - first); ++quad) {
      float4 key[score_keys];
      for (int j = 0; j < score_keys; ++j) key[j] = tile.stage[(own_key + 16 * j) * (slice + 1) + quad];
      for (int i = 0; i < score_pairs; ++i) {
        const float4 query = tile.query[(own_pair + 16 * i) * padded_quads + first + quad];
        for (int j = 0; j < score_keys; ++j) add_products(products[i][j], query, key[j]);
      }
    }
  }
  for (int i = 0; i < score_pairs; ++i)
    for (int j = 0; j < score_keys; ++j) {
      const int pair = own_pair + 16 * i, key = own_key + 16 * j;
      tile.scores(pair)[key] = to_score(products[i][j], scale, has(tile.seen[pair], begin + key));
    }
  __syncthreads();
}

__device__ void weigh_pairs(Tile& tile, int begin) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int pair = thread / warp_size; pair < pairs; pair += warps) {
    if (!meets(tile.seen[pair], begin)) continue;
    const float2 scale = weigh_chunk(tile.scores(pair));
    if (thread % warp_size != 0) continue;
    const float after = fmaxf(tile.maxima[pair], scale.x);
    const float2 factors = make_float2(expf(tile.maxima[pair] - after), expf(scale.x - after));
    tile.totals[pair] = join_sums(tile.totals[pair], factors.x, scale.y, factors.y);
    tile.maxima[pair] = after;
    tile.factors[pair] = factors;
  }
}

// One strip of values (in shared memory, this thread's quad) for the thread's pairs, all of which see all of it.
__device__ __forceinline__ void add_strip(Sums& sums, Tile& tile, const float4* values, int first_pair, int key) {
  float4 sum[own_pairs];
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) sum[i] = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int j = 0; j < strip; j += 4) {
#pragma unroll
    for (int i = 0; i < own_pairs; ++i) {
      const float4 weight = *reinterpret_cast<const float4*>(tile.scores(first_pair + i) + key + j);
      add_scaled(sum[i], weight.x, values[j * quads]);
      add_scaled(sum[i], weight.y, values[(j + 1) * quads]);
      add_scaled(sum[i], weight.z, values[(j + 2) * quads]);
      add_scaled(sum[i], weight.w, values[(j + 3) * quads]);
    }
  }
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) add(sums.of_chunk[i], sum[i]);
}

// The same where some pairs see a part of it only: without what they don't see, whatever memory holds there.
__device__ __forceinline__ void add_part(Sums& sums, Tile& tile, const float4* values, int first_pair, int key,
                                         int begin) {
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) {
    float4 sum = make_float4(0, 0, 0, 0);
    const Range seen = tile.seen[first_pair + i];
#pragma unroll 1
    for (int j = key; j < key + strip; ++j)
      if (has(seen, begin + j)) add_scaled(sum, tile.scores(first_pair + i)[j], values[(j - key) * quads]);
    add(sums.of_chunk[i], sum);
  }
}

__device__ void sum_values(Sums& sums, Tile& tile, const float4* values, int begin, Range any, bool is_whole) {
  const int thread = static_cast<int>(threadIdx.x), quad = thread % quads;
  const int first_pair = thread / quads * own_pairs;
  const bool is_owner = first_pair + own_pairs <= pairs;
  for (int i = 0; i < own_pairs; ++i) sums.of_chunk[i] = make_float4(0, 0, 0, 0);
  for (int first = 0; first < chunk; first += value_keys) {
    __syncthreads();
#pragma unroll 1
    for (int at = thread; at < value_keys * quads; at += threads)
      if (has(any, begin + first + at / quads))
        tile.stage[at] = __ldg(values + (int64_t{begin} + first) * quads + at);
    __syncthreads();
#pragma unroll 1
    for (int key = first; is_owner && key < first + value_keys; key += strip) {
      const float4* staged = tile.stage + (key - first) * quads + quad;
      if (is_whole) add_strip(sums, tile, staged, first_pair, key);
      else add_part(sums, tile, staged, first_pair, key, begin);
    }
  }
  for (int i = 0; is_owner && i < own_pairs; ++i) {
    if (!meets(tile.seen[first_pair + i], begin)) continue;
    const float2 factors = tile.factors[first_pair + i];
    float4& sum = sums.all[i];
    const float4 value = sums.of_chunk[i];
    sum = make_float4(join_sums(sum.x, factors.x, value.x, factors.y), join_sums(sum.y, factors.x, value.y, factors.y),
                      join_sums(sum.z, factors.x, value.z, factors.y), join_sums(sum.w, factors.x, value.w, factors.y));
  }
}

// What the rows of a run see: any of them, and all of them.
struct RunRange {
  Range any, all;
};

// Sets up the pairs for a run of the tile's rows; those of other rows see nothing.
__device__ RunRange place_run(Tile& tile, const Attention& in, int64_t tile_begin, int64_t begin, int64_t end) {
  for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += threads) {
    const int64_t row = tile_begin + pair / group;
    const bool is_in_run = row >= begin && row < end && pair < tile_rows * group;
    tile.seen[pair] = is_in_run ? visible_keys(in, row) : Range{0, -1};
    tile.maxima[pair] = -INFINITY;
    tile.totals[pair] = 0;
  }
  RunRange run{visible_keys(in, begin), visible_keys(in, begin)};
  for (int64_t row = begin + 1; row < end; ++row) {
    const Range seen = visible_keys(in, row);
    run = {{min(run.any.first, seen.first), max(run.any.last, seen.last)},
           {max(run.all.first, seen.first), min(run.all.last, seen.last)}};
  }
  return run;
}

// Rows [begin, end) of the tile, all of one slot.
__device__ void attend_run(Tile& tile, const Attention& in, View out, int64_t tile_begin, int64_t begin, int64_t end) {
  const int kv_head = static_cast<int>(blockIdx.y), quad = static_cast<int>(threadIdx.x) % quads;
  const int first_pair = static_cast<int>(threadIdx.x) / quads * own_pairs;
  const float4* keys = head_of(in.keys, in.rows[begin].slot, kv_head);
  const float4* values = head_of(in.values, in.rows[begin].slot, kv_head);
  Sums sums;
  for (int i = 0; i < own_pairs; ++i) sums.all[i] = make_float4(0, 0, 0, 0);
  const RunRange run = place_run(tile, in, tile_begin, begin, end);
  for (int at = run.any.first / chunk * chunk; at <= run.any.last; at += chunk) {
    score_chunk(tile, keys, in.scale, at, run.any);
    weigh_pairs(tile, at);
    sum_values(sums, tile, values, at, run.any, has(run.all, at) && has(run.all, at + chunk - 1));
  }
  for (int i = 0; i < own_pairs; ++i) {
    const int pair = first_pair + i;
    if (pair >= pairs || tile.seen[pair].last < 0) continue;
    const float total = tile.totals[pair];
    float4* to = reinterpret_cast<float4*>(row_of(out, tile_begin + pair / group));
    const float4 sum = sums.all[i];
    to[(kv_head * group + pair % group) * quads + quad] =
        make_float4(sum.x / total, sum.y / total, sum.z / total, sum.w / total);
  }
  __syncthreads();
}

// Block (tile of rows, KV head).
__global__ void __launch_bounds__(threads, 2) attend_tile(Attention in, View out, int num_rows) {
  __shared__ Tile tiles[1];
  const int kv_head = static_cast<int>(blockIdx.y);
  const int64_t first = int64_t{blockIdx.x} * tile_rows, last = min(first + tile_rows, int64_t{num_rows});
  for (int at = static_cast<int>(threadIdx.x); at < pairs * quads; at += threads) {
    const int pair = at / quads, quad = at % quads;
    const int64_t row = min(first + pair / group, last - 1);
    const float4* q = reinterpret_cast<const float4*>(row_of(in.q, row));
    tiles[0].query[pair * padded_quads + quad] = q[(kv_head * group + pair % group) * quads + quad];
  }
  int64_t begin = first;
  while (begin < last) {
    int64_t end = begin + 1;
    while (end < last && in.rows[end].slot == in.rows[begin].slot) ++end;
    attend_run(tiles[0], in, out, first, begin, end);
    begin = end;
  }
}

// As many rows as there may be sequences are a decoding step, each with a cache of its own; more are mostly a prompt.
constexpr int decode_rows = std::max(8, config::max_batch);
constexpr int64_t row_scratch = int64_t{heads} * (round_up(int64_t{chunks} * head_dim, 16) + round_up(2 * chunks, 16));
constexpr int64_t scratch_floats = int64_t{1} << 23;  // unless one row needs more
constexpr int rows_at_once = static_cast<int>(std::max<int64_t>(1, scratch_floats / row_scratch));

void attend_apart(Context& ctx, int num_rows, Attention in, View out) {
  const Workspace::Scope scope(ctx.workspace);
  const int64_t row_heads = int64_t{std::min(num_rows, rows_at_once)} * heads;
  const View sums = ctx.workspace.take(row_heads, int64_t{chunks} * head_dim);
  const View scales = ctx.workspace.take(row_heads, 2 * chunks);
  for (int begin = 0; begin < num_rows; begin += rows_at_once) {
    const auto count = static_cast<unsigned>(std::min(num_rows - begin, rows_at_once));
    launch("attention over chunks", attend_chunks, dim3(parts, kv_heads, count), threads, in, sums, scales);
    launch("attention, joined", join_chunks, dim3(heads, count), join_threads, in, out, sums, scales);
    in.rows += rows_at_once;
    in.q.data = in.q.row(rows_at_once);
    out.data = out.row(rows_at_once);
  }
}
}  // namespace

void attention(Context& ctx, int num_rows, const Row* rows, View out, View q, const KvCache& kv, int layer) {
  const Attention in{rows, q, kv_keys(kv, layer, 0, 0), kv_values(kv, layer, 0, 0),
                     config::layer_windows[static_cast<size_t>(layer)], 1 / std::sqrt(static_cast<float>(head_dim))};
  if (num_rows <= decode_rows) {
    attend_apart(ctx, num_rows, in, out);
  } else {
    const auto tiles = static_cast<unsigned>((num_rows + tile_rows - 1) / tile_rows);
    launch("attention of a tile", attend_tile, dim3(tiles, kv_heads), threads, in, out, num_rows);
  }
}
