// SPDX-License-Identifier: MIT
// mlp.sandwich: the feed-forward half of a layer, on the residual stream, normalised before and after:
// hidden += norm_after(down(gelu(gate(n)) * up(n))), n = norm_before(hidden).
#pragma once
#include "checkpoint_safetensors.h"

struct MlpWeights;
// Takes model.layers.<layer>.pre_feedforward_layernorm, .mlp.* and .post_feedforward_layernorm
std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer);
void mlp_block(Context& ctx, int num_rows, View hidden /*[num_rows, hidden_size]*/, const MlpWeights& weights);
