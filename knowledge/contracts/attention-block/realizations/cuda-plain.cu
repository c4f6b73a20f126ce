// SPDX-License-Identifier: MIT
// attention.block, CUDA, without biases: hidden[rows, hidden_size] += o(attention(rope(qkv(rms_norm(hidden))))), f32
// activations, weights in the engine's format. The rows of q, k and v are packed so that one thread gets both
// elements of a rotary pair from the product: it rotates the pair and puts it where it belongs, q for the
// attention, k and v into the cache. Target: sm_80, sm_90; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cuda, model.qkv_bias=false, model.qk_norm=false
// requires: runtime.cuda, linear.fragments
// fuses: position.rope, kv.cache
#include "attention_block.h"
#include "attention_core.h"
#include "linear_fragments.h"
#include "norm_rms.h"

struct AttentionWeights {
  Memory norm;         // [hidden_size]
  Memory qkv, output;  // packed
  std::shared_ptr<const RopeTable> table;
};

namespace {
constexpr int head_dim = config::head_dim, pairs = head_dim / 2;
constexpr int query_heads = config::num_heads, kv_heads = config::num_kv_heads;
constexpr int head_bands = (pairs + stripe - 1) / stripe;  // packed: 16 first elements, their 16 partners
constexpr int packed_columns = (query_heads + 2 * kv_heads) * head_bands * band;
constexpr int query_columns = query_heads * head_dim, kv_columns = kv_heads * head_dim;
static_assert(head_dim % 4 == 0 && KvCache::lanes == 1, "keys and values are rows of 16-byte loads");

// The places of a packed output and the one 16 behind it.
struct Place {
  int head;  // q's, then k's, then v's
  int pair;  // elements pair and pair + head_dim/2 of the head; none where it is `pairs` or more
};
__host__ __device__ inline Place place_of(int output) {
  return {output / (head_bands * band), output / band % head_bands * stripe + output % stripe};
}

// What becomes of the product's sums.
struct PlaceHeads {
  const Row* rows;
  const float *cos, *sin;
  View q;
  float *keys, *values;  // of the layer, from slot 0 on
  __device__ float* find(int64_t index, Row row, int head) const {
    if (head < query_heads) return row_of(q, index) + head * head_dim;
    const int64_t kv_head = int64_t{row.slot} * kv_heads + (head - query_heads) % kv_heads;
    return (head < query_heads + kv_heads ? keys : values) + (kv_head * KvCache::positions + row.position) * head_dim;
  }
  __device__ void operator()(int64_t index, int output, float low, float high) const {
    const Place place = place_of(output);
    if (place.pair >= pairs) return;
    const Row row = rows[index];
    float* to = find(index, row, place.head) + place.pair;
    const bool is_rotated = place.head < query_heads + kv_heads;
    const int64_t entry = int64_t{row.position} * pairs + place.pair;
    const float turn = is_rotated ? sin[entry] : 0, kept = is_rotated ? cos[entry] : 1;
    to[0] = is_rotated ? fmaf(low, kept, -(high * turn)) : low;
    to[pairs] = is_rotated ? fmaf(high, kept, low * turn) : high;
  }
};

// The projection's row for a packed one.
bool fill_row(const Tensor* const (&qkv)[3], int64_t packed, float* values) {
  const Place place = place_of(static_cast<int>(packed / band * band + packed % stripe));
  if (place.pair >= pairs) return false;
  const int first[] = {0, query_heads, query_heads + kv_heads};
  const int which = place.head < first[1] ? 0 : place.head < first[2] ? 1 : 2;
  const int64_t element = place.pair + (packed % band < stripe ? 0 : pairs);
  const int64_t row = int64_t{place.head - first[which]} * head_dim + element;
  to_f32(*qkv[which], row * config::hidden_size, config::hidden_size, values);
  return true;
}
}  // namespace

std::shared_ptr<const AttentionWeights> load_attention(Context& ctx, Checkpoint& checkpoint, int layer,
                                                       std::shared_ptr<const RopeTable> table) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", self = prefix + "self_attn.";
  const auto take = [&](const char* name, int64_t out, int64_t in) { return &checkpoint.take(self + name, {out, in}); };
  const Tensor* const qkv[] = {take("q_proj.weight", query_columns, config::hidden_size),
                               take("k_proj.weight", kv_columns, config::hidden_size),
                               take("v_proj.weight", kv_columns, config::hidden_size)};
  const Tensor* const output = take("o_proj.weight", config::hidden_size, query_columns);
  const auto fill_qkv = [&](int64_t row, float* values) { return fill_row(qkv, row, values); };
  const auto fill_output = [&](int64_t row, float* values) {
    to_f32(*output, row * query_columns, query_columns, values);
    return true;
  };
  return std::make_shared<AttentionWeights>(AttentionWeights{
      to_memory(take_vector(checkpoint, prefix + "input_layernorm.weight", config::hidden_size)),
      pack_fragments(ctx, packed_columns, config::hidden_size, fill_qkv),
      pack_fragments(ctx, config::hidden_size, query_columns, fill_output), std::move(table)});
}

void attention_block(Context& ctx, int num_rows, const Row* rows, View hidden, const AttentionWeights& weights,
                     KvCache& kv, int layer) {
  const Workspace::Scope scope(ctx.workspace);
  const View q = ctx.workspace.take(num_rows, query_columns), attended = ctx.workspace.take(num_rows, query_columns);
  const PlaceHeads place{rows, weights.table->cos.as<float>(), weights.table->sin.as<float>(), q,
                         kv_keys(kv, layer, 0, 0), kv_values(kv, layer, 0, 0)};
  const Fragments qkv = fragments_of(weights.qkv, packed_columns, config::hidden_size);
  if (num_rows <= few_rows) {
    multiply_normed(num_rows, hidden, weights.norm.as<float>(), qkv, place);
  } else {
    const View normed = ctx.workspace.take(num_rows, config::hidden_size);
    rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
    multiply(num_rows, normed, qkv, place);
  }
  attention(ctx, num_rows, rows, attended, q, kv, layer);
  multiply(num_rows, attended, fragments_of(weights.output, config::hidden_size, query_columns),
           AddSums{static_cast<float*>(hidden.data), hidden.row_stride, config::hidden_size});
}
