// SPDX-License-Identifier: MIT
// mlp.sandwich: hidden[rows, hidden_size] += rms_norm(down(gelu(gate(n)) * up(n))), n = rms_norm(hidden), gelu in its tanh
// form; f32 activations, weights in the engine's format; gate and up are one matrix, so the input is read once.
// Target: any x86-64; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cpu-x86_64
// requires: runtime.vectors
// fuses: linear.dense
#include "mlp_gated.h"
#include "linear_dense.h"
#include "norm_rms.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

struct MlpWeights {
  Memory norm, norm_after;
  Linear gate_up, down;
};

constexpr int64_t width = config::intermediate_size;

std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", mlp = prefix + "mlp.";
  const Tensor* const gate_up[] = {&checkpoint.take(mlp + "gate_proj.weight", {width, config::hidden_size}),
                                   &checkpoint.take(mlp + "up_proj.weight", {width, config::hidden_size})};
  const Tensor* const down[] = {&checkpoint.take(mlp + "down_proj.weight", {config::hidden_size, width})};
  return std::make_shared<MlpWeights>(
      MlpWeights{to_memory(take_vector(checkpoint, prefix + "pre_feedforward_layernorm.weight", config::hidden_size)),
                 to_memory(take_vector(checkpoint, prefix + "post_feedforward_layernorm.weight", config::hidden_size)),
                 load_linear(ctx, gate_up), load_linear(ctx, down)});
}

// gate = gelu(gate) * up for `count` <= lanes elements: (1 + tanh(u)) / 2 = 1 / (1 + e^(-2u)).
static void activate(float* gate, const float* up, int64_t count = lanes) {
  const vecf x = load(gate, count);
  const vecf twice = x * (x * x * 0.0713548162726f + 1.59576912161f);  // 2 sqrt(2 / pi) (x + 0.044715 x^3)
  store(gate, x / (1.0f + exp_lanes(-twice)) * load(up, count), count);
}

void mlp_block(Context& ctx, int num_rows, View hidden, const MlpWeights& weights) {
  const Workspace::Scope scope(ctx.workspace);
  const View normed = ctx.workspace.take(num_rows, config::hidden_size);
  const View gate_up = ctx.workspace.take(num_rows, 2 * width);
  rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
  linear(ctx, num_rows, gate_up, normed, weights.gate_up);
  parallel_for(ctx, num_rows, 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* gate = gate_up.row(row);
      constexpr int64_t whole = width / lanes * lanes;
      for (int64_t i = 0; i < whole; i += lanes) activate(gate + i, gate + width + i);
      if (whole < width) activate(gate + whole, gate + width + whole, width - whole);
    }
  });
  // What was normalised before has been read; its place holds what is normalised after. linear_add could not add it.
  linear(ctx, num_rows, normed, gate_up.slice(0, width), weights.down);
  rms_norm(ctx, num_rows, normed, normed, memory_view(weights.norm_after, config::hidden_size));
  for (int row = 0; row < num_rows; ++row)
    for (int64_t i = 0; i < config::hidden_size; ++i) hidden.row(row)[i] += normed.row(row)[i];
}
