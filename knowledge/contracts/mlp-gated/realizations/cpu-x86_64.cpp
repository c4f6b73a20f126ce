// SPDX-License-Identifier: MIT
// mlp.gated: hidden[rows, hidden_size] += down(silu(gate(n)) * up(n)), n = rms_norm(hidden); f32 activations, weights in
// the engine's format; gate and up are one matrix, so the input is read once.
// Target: any x86-64; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cpu-x86_64
#include "mlp_gated.h"

#include "linear_dense.h"
#include "norm_rms.h"
#include "runtime_threading.h"

struct MlpWeights {
  std::vector<float> norm;
  Linear gate_up, down;
};

namespace {

// gate = silu(gate) * up, n elements.
void activate(float* gate, const float* up, int64_t n) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const vecf x = load(gate + i);
    store(gate + i, x / (1.0f + exp_lanes(-x)) * load(up + i));
  }
  if (i == n) return;
  const vecf x = load_some(gate + i, n - i);
  store_some(gate + i, x / (1.0f + exp_lanes(-x)) * load_some(up + i, n - i), n - i);
}

}  // namespace

std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", mlp = prefix + "mlp.";
  const std::vector<int64_t> wide = {config::intermediate_size, config::hidden_size};
  const Tensor* const gate_up[] = {&checkpoint.take(mlp + "gate_proj.weight", wide),
                                   &checkpoint.take(mlp + "up_proj.weight", wide)};
  const Tensor* const down[] = {&checkpoint.take(mlp + "down_proj.weight", {config::hidden_size, config::intermediate_size})};
  return std::make_shared<MlpWeights>(
      MlpWeights{take_vector(checkpoint, prefix + "post_attention_layernorm.weight", config::hidden_size),
                 load_linear(ctx, gate_up), load_linear(ctx, down)});
}

void mlp_block(Context& ctx, int num_rows, View hidden, const MlpWeights& weights) {
  const Workspace::Scope scope(ctx.workspace);
  const View normed = ctx.workspace.take(num_rows, config::hidden_size);
  const View gate_up = ctx.workspace.take(num_rows, 2 * config::intermediate_size);
  const View gate = gate_up.slice(0, config::intermediate_size);
  rms_norm(ctx, num_rows, normed, hidden, vector_view(weights.norm));
  linear(ctx, num_rows, gate_up, normed, weights.gate_up);
  parallel_for(ctx, num_rows, 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      activate(gate.row(row), gate.row(row) + config::intermediate_size, config::intermediate_size);
  });
  linear_add(ctx, num_rows, hidden, gate, weights.down);
}
