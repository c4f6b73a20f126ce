// SPDX-License-Identifier: MIT
// attention.sandwich: hidden[rows, hidden_size] += rms_norm(o(attention(rope(qkv(rms_norm(hidden)))))), f32 activations,
// weights in the engine's format; q, k and v are one matrix, so the input is read once.
// Target: any x86-64; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cpu-x86_64, model.qkv_bias=false, model.qk_norm=false
// fuses: linear.dense
#include "attention_block.h"
#include "attention_core.h"
#include "linear_dense.h"
#include "norm_rms.h"

struct AttentionWeights {
  Memory norm, norm_after;
  Linear qkv, output;
  std::shared_ptr<const RopeTable> table;
};

constexpr int query_columns = config::num_heads * config::head_dim;
constexpr int kv_columns = config::num_kv_heads * config::head_dim;

std::shared_ptr<const AttentionWeights> load_attention(Context& ctx, Checkpoint& checkpoint, int layer,
                                                       std::shared_ptr<const RopeTable> table) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", self = prefix + "self_attn.";
  const auto take = [&](const char* name, int64_t out, int64_t in) { return &checkpoint.take(self + name, {out, in}); };
  const Tensor* const qkv[] = {take("q_proj.weight", query_columns, config::hidden_size),
                               take("k_proj.weight", kv_columns, config::hidden_size),
                               take("v_proj.weight", kv_columns, config::hidden_size)};
  const Tensor* const output[] = {take("o_proj.weight", config::hidden_size, query_columns)};
  return std::make_shared<AttentionWeights>(AttentionWeights{
      to_memory(take_vector(checkpoint, prefix + "input_layernorm.weight", config::hidden_size)),
      to_memory(take_vector(checkpoint, prefix + "post_attention_layernorm.weight", config::hidden_size)),
      load_linear(ctx, qkv), load_linear(ctx, output), std::move(table)});
}

void attention_block(Context& ctx, int num_rows, const Row* rows, View hidden, const AttentionWeights& weights,
                     KvCache& kv, int layer) {
  const Workspace::Scope scope(ctx.workspace);
  const View normed = ctx.workspace.take(num_rows, config::hidden_size);
  const View qkv = ctx.workspace.take(num_rows, query_columns + 2 * kv_columns);
  const View attended = ctx.workspace.take(num_rows, query_columns);
  const View q = qkv.slice(0, query_columns), k = qkv.slice(query_columns, kv_columns);
  rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
  linear(ctx, num_rows, qkv, normed, weights.qkv);
  rope(ctx, num_rows, rows, q, config::num_heads, *weights.table);
  rope(ctx, num_rows, rows, k, config::num_kv_heads, *weights.table);
  kv_append(ctx, num_rows, rows, k, qkv.slice(query_columns + kv_columns, kv_columns), kv, layer);
  attention(ctx, num_rows, rows, attended, q, kv, layer);
  // What was normalised before has been read; its place holds what is normalised after. linear_add could not add it.
  linear(ctx, num_rows, normed, attended, weights.output);
  rms_norm(ctx, num_rows, normed, normed, memory_view(weights.norm_after, config::hidden_size));
  for (int row = 0; row < num_rows; ++row)
    for (int64_t i = 0; i < config::hidden_size; ++i) hidden.row(row)[i] += normed.row(row)[i];
}
