// SPDX-License-Identifier: MIT
// attention.block, CUDA, with an RMS norm on every q and k head: hidden[rows, hidden_size] +=
// o(attention(rope(norm(qkv(rms_norm(hidden)))))), f32 activations, weights in the engine's format; q, k and v are one
// matrix. One kernel of a warp per row and head then norms and rotates q in place, norms and rotates k into the cache
// and copies v there. Target: sm_80, sm_90; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cuda, model.qkv_bias=false, model.qk_norm=true
// requires: runtime.cuda, linear.fragments
// fuses: position.rope, kv.cache
#include "attention_block.h"
#include "attention_core.h"
#include "linear_fragments.h"
#include "norm_rms.h"

struct AttentionWeights {
  Memory norm;            // [hidden_size]
  Memory q_norm, k_norm;  // [head_dim], shared by the heads
  Memory qkv, output;     // packed
  std::shared_ptr<const RopeTable> table;
};

namespace {
constexpr int head_dim = config::head_dim, pairs = head_dim / 2;
constexpr int query_heads = config::num_heads, kv_heads = config::num_kv_heads, all_heads = query_heads + 2 * kv_heads;
constexpr int query_columns = query_heads * head_dim, kv_columns = kv_heads * head_dim;
constexpr int columns = query_columns + 2 * kv_columns;
constexpr int own_pairs = (pairs + warp_size - 1) / warp_size;  // of one lane
constexpr int block_heads = 4;                                  // warps of a block
static_assert(head_dim % 4 == 0 && KvCache::lanes == 1, "keys and values are rows of 16-byte loads");

struct HeadNorms {
  const float *q, *k;  // gains
  const float *cos, *sin;
};

// One lane's pairs of a head, zeros where there is none.
struct OwnPairs {
  float low[own_pairs], high[own_pairs];
};

__device__ OwnPairs load_pairs(const float* head) {
  OwnPairs own;
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) {
    const int pair = static_cast<int>(threadIdx.x) % warp_size + i * warp_size;
    own.low[i] = pair < pairs ? head[pair] : 0;
    own.high[i] = pair < pairs ? head[pair + pairs] : 0;
  }
  return own;
}

__device__ void store_pairs(float* head, const OwnPairs& own) {
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) {
    const int pair = static_cast<int>(threadIdx.x) % warp_size + i * warp_size;
    if (pair >= pairs) continue;
    head[pair] = own.low[i];
    head[pair + pairs] = own.high[i];
  }
}

__device__ void norm_pairs(OwnPairs& own, const float* gain) {
  float squares = 0;
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) squares = fmaf(own.low[i], own.low[i], fmaf(own.high[i], own.high[i], squares));
  const float scale = 1.0f / sqrtf(warp_sum(squares) / head_dim + config::rms_norm_eps);
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) {
    const int pair = min(static_cast<int>(threadIdx.x) % warp_size + i * warp_size, pairs - 1);
    own.low[i] = own.low[i] * scale * gain[pair];
    own.high[i] = own.high[i] * scale * gain[pair + pairs];
  }
}

__device__ void rotate_pairs(OwnPairs& own, const float* cos, const float* sin) {
#pragma unroll
  for (int i = 0; i < own_pairs; ++i) {
    const int pair = min(static_cast<int>(threadIdx.x) % warp_size + i * warp_size, pairs - 1);
    const float low = own.low[i], high = own.high[i];
    own.low[i] = fmaf(low, cos[pair], -(high * sin[pair]));
    own.high[i] = fmaf(high, cos[pair], low * sin[pair]);
  }
}

// Block (some heads of q, k and v, row); keys and values of the layer, from slot 0 on.
__global__ void place_heads(const Row* rows, View qkv, HeadNorms norms, float* keys, float* values) {
  const int head = static_cast<int>(blockIdx.x) * block_heads + static_cast<int>(threadIdx.x) / warp_size;
  if (head >= all_heads) return;
  const Row row = rows[blockIdx.y];
  const int64_t table_row = int64_t{row.position} * pairs;
  float* from = row_of(qkv, blockIdx.y) + head * head_dim;
  OwnPairs own = load_pairs(from);
  if (head < query_heads + kv_heads) {
    norm_pairs(own, head < query_heads ? norms.q : norms.k);
    rotate_pairs(own, norms.cos + table_row, norms.sin + table_row);
  }
  const int64_t kv_head = int64_t{row.slot} * kv_heads + (head - query_heads) % kv_heads;
  float* cache = head < query_heads + kv_heads ? keys : values;
  store_pairs(head < query_heads ? from : cache + (kv_head * KvCache::positions + row.position) * head_dim, own);
}
}  // namespace

std::shared_ptr<const AttentionWeights> load_attention(Context& ctx, Checkpoint& checkpoint, int layer,
                                                       std::shared_ptr<const RopeTable> table) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", self = prefix + "self_attn.";
  const auto take = [&](const char* name, int64_t out, int64_t in) { return &checkpoint.take(self + name, {out, in}); };
  const Tensor* const q = take("q_proj.weight", query_columns, config::hidden_size);
  const Tensor* const k = take("k_proj.weight", kv_columns, config::hidden_size);
  const Tensor* const v = take("v_proj.weight", kv_columns, config::hidden_size);
  const Tensor* const output = take("o_proj.weight", config::hidden_size, query_columns);
  const auto fill_qkv = [&](int64_t row, float* out) {
    const int64_t kv_row = row - query_columns;
    const Tensor* tensor = kv_row < 0 ? q : kv_row < kv_columns ? k : v;
    to_f32(*tensor, (kv_row < 0 ? row : kv_row % kv_columns) * config::hidden_size, config::hidden_size, out);
    return true;
  };
  const auto fill_output = [&](int64_t row, float* out) {
    to_f32(*output, row * query_columns, query_columns, out);
    return true;
  };
  return std::make_shared<AttentionWeights>(AttentionWeights{
      to_memory(take_vector(checkpoint, prefix + "input_layernorm.weight", config::hidden_size)),
      to_memory(take_vector(checkpoint, self + "q_norm.weight", head_dim)),
      to_memory(take_vector(checkpoint, self + "k_norm.weight", head_dim)),
      pack_fragments(ctx, columns, config::hidden_size, fill_qkv),
      pack_fragments(ctx, config::hidden_size, query_columns, fill_output), std::move(table)});
}

static void project(Context& ctx, int num_rows, View hidden, const AttentionWeights& weights, View qkv) {
  const Fragments matrix = fragments_of(weights.qkv, columns, config::hidden_size);
  const StoreSums store{static_cast<float*>(qkv.data), qkv.row_stride, columns};
  if (num_rows <= few_rows) return multiply_normed(num_rows, hidden, weights.norm.as<float>(), matrix, store);
  const Workspace::Scope scope(ctx.workspace);
  const View normed = ctx.workspace.take(num_rows, config::hidden_size);
  rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
  multiply(num_rows, normed, matrix, store);
}

void attention_block(Context& ctx, int num_rows, const Row* rows, View hidden, const AttentionWeights& weights,
                     KvCache& kv, int layer) {
  const Workspace::Scope scope(ctx.workspace);
  const View qkv = ctx.workspace.take(num_rows, columns), attended = ctx.workspace.take(num_rows, query_columns);
  project(ctx, num_rows, hidden, weights, qkv);
  const HeadNorms norms{weights.q_norm.as<float>(), weights.k_norm.as<float>(), weights.table->cos.as<float>(),
                        weights.table->sin.as<float>()};
  constexpr unsigned blocks = (all_heads + block_heads - 1) / block_heads;
  launch("heads normed and placed", place_heads, dim3(blocks, static_cast<unsigned>(num_rows)),
         block_heads * warp_size, rows, qkv, norms, kv_keys(kv, layer, 0, 0), kv_values(kv, layer, 0, 0));
  attention(ctx, num_rows, rows, attended, qkv.slice(0, query_columns), kv, layer);
  multiply(num_rows, attended, fragments_of(weights.output, config::hidden_size, query_columns),
           AddSums{static_cast<float*>(hidden.data), hidden.row_stride, config::hidden_size});
}
