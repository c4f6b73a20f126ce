// SPDX-License-Identifier: MIT
// attention.sandwich: the attention half of a layer, on the residual stream, normalised before and after:
// hidden += norm_after(o(attention(rope(qkv(norm_before(hidden)))))).
#pragma once
#include "checkpoint_safetensors.h"
#include "kv_cache.h"
#include "position_rope.h"

struct AttentionWeights;
// Takes model.layers.<layer>.input_layernorm, .self_attn.* and .post_attention_layernorm
std::shared_ptr<const AttentionWeights> load_attention(Context& ctx, Checkpoint& checkpoint, int layer,
                                                       std::shared_ptr<const RopeTable> table);
void attention_block(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/,
                     View hidden /*[num_rows, hidden_size]*/, const AttentionWeights& weights, KvCache& kv, int layer);
