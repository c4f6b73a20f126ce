// SPDX-License-Identifier: MIT
// mlp.gated: the feed-forward half of a layer, on the residual stream:
// hidden += down(silu(gate(n)) * up(n)), n = norm(hidden).
#pragma once
#include "checkpoint_safetensors.h"

struct MlpWeights;
// Takes model.layers.<layer>.post_attention_layernorm and .mlp.*
std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer);
void mlp_block(Context& ctx, int num_rows, View hidden /*[num_rows, hidden_size]*/, const MlpWeights& weights);
