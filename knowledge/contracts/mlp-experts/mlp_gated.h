// SPDX-License-Identifier: MIT
// mlp.experts: the feed-forward half of a layer whose MLP is many small ones, of which each row takes a few:
// hidden += sum over the row's experts of weight * down(silu(gate(n)) * up(n)), n = norm(hidden).
#pragma once
#include "checkpoint_safetensors.h"

struct MlpWeights;
// Takes model.layers.<layer>.post_attention_layernorm and the layer's router and experts, or its one MLP.
std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer);
void mlp_block(Context& ctx, int num_rows, View hidden /*[num_rows, hidden_size]*/, const MlpWeights& weights);
