// SPDX-License-Identifier: MIT
// mlp.experts, with a shared expert: hidden[rows, hidden_size] += sum of weight * down(silu(gate(n)) * up(n)) over each
// row's experts + sigmoid(shared gate) * the shared one, n = rms_norm(hidden); f32 activations, weights in the engine's
// format. Experts run in rising order, each once for all rows that chose it, so that its weights are read once.
// Target: any x86-64; max |error| 1e-5 * |hidden|.
// applies: hardware.platform=cpu-x86_64, model.shared_expert=true
// requires: runtime.vectors
#include "mlp_gated.h"
#include "linear_dense.h"
#include "moe_router.h"
#include "norm_rms.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

struct GatedMlp {
  Linear gate_up, down;
};
struct MlpWeights {
  Memory norm;
  std::unique_ptr<const Linear> router;  // none in a layer of one MLP
  std::vector<GatedMlp> experts;         // num_experts, or that one
  std::unique_ptr<const Linear> shared_gate;  // [1, hidden_size]; none in a layer of one MLP
  std::unique_ptr<const GatedMlp> shared;
};

static GatedMlp load_gated(Context& ctx, Checkpoint& checkpoint, const std::string& prefix, int64_t width,
                           const std::array<std::string, 3>& names) {
  const std::vector<int64_t> rows = {width, config::hidden_size}, columns = {config::hidden_size, width};
  const Tensor* const gate_up[] = {&checkpoint.take(prefix + names[0] + ".weight", rows),
                                   &checkpoint.take(prefix + names[1] + ".weight", rows)};
  const Tensor* const down[] = {&checkpoint.take(prefix + names[2] + ".weight", columns)};
  return {load_linear(ctx, gate_up), load_linear(ctx, down)};
}

std::shared_ptr<const MlpWeights> load_mlp(Context& ctx, Checkpoint& checkpoint, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  MlpWeights weights{to_memory(take_vector(checkpoint, prefix + "post_attention_layernorm.weight", config::hidden_size)),
                     nullptr,
                     {},
                     nullptr,
                     nullptr};
  if (config::expert_layers[static_cast<size_t>(layer)] == 0) {
    weights.experts.push_back(load_gated(ctx, checkpoint, prefix + "mlp.", config::intermediate_size,
                                         {"gate_proj", "up_proj", "down_proj"}));
    return std::make_shared<MlpWeights>(std::move(weights));
  }
  const std::string own = prefix + std::string(config::expert_prefix);
  const Tensor* const router[] = {&checkpoint.take(own + "gate.weight", {config::num_experts, config::hidden_size})};
  weights.router = std::make_unique<const Linear>(load_linear(ctx, router));
  const std::array<std::string, 3> names = {std::string(config::expert_gate_name), std::string(config::expert_up_name),
                                            std::string(config::expert_down_name)};
  for (int expert = 0; expert < config::num_experts; ++expert)
    weights.experts.push_back(load_gated(ctx, checkpoint, own + "experts." + std::to_string(expert) + ".",
                                         config::expert_size, names));
  const std::string shared = prefix + "mlp.shared_expert";
  const Tensor* const gate[] = {&checkpoint.take(shared + "_gate.weight", {1, config::hidden_size})};
  weights.shared_gate = std::make_unique<const Linear>(load_linear(ctx, gate));
  weights.shared = std::make_unique<const GatedMlp>(
      load_gated(ctx, checkpoint, shared + ".", config::shared_expert_size, {"gate_proj", "up_proj", "down_proj"}));
  return std::make_shared<MlpWeights>(std::move(weights));
}

// gate = silu(gate) * up for `count` <= lanes elements.
static void activate(float* gate, const float* up, int64_t count = lanes) {
  const vecf x = load(gate, count);
  store(gate, x / (1.0f + exp_lanes(-x)) * load(up, count), count);
}

// silu(gate(x)) * up(x), in scratch that the caller's scope gives back.
static View run_gate(Context& ctx, int num_rows, View x, const GatedMlp& mlp) {
  const int64_t width = mlp.down.in, whole = width / lanes * lanes;
  const View gate_up = ctx.workspace.take(num_rows, 2 * width);
  linear(ctx, num_rows, gate_up, x, mlp.gate_up);
  parallel_for(ctx, num_rows, 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* gate = gate_up.row(row);
      for (int64_t i = 0; i < whole; i += lanes) activate(gate + i, gate + width + i);
      if (whole < width) activate(gate + whole, gate + width + whole, width - whole);
    }
  });
  return gate_up.slice(0, mlp.down.in);
}

// Adds one expert's share to the rows that chose it; `places` are theirs in the router's choice.
static void add_expert(Context& ctx, View hidden, View normed, const GatedMlp& mlp, const std::vector<int32_t>& places,
                       View shares) {
  constexpr int64_t k = config::experts_per_token;
  const int count = static_cast<int>(places.size());
  const Workspace::Scope scope(ctx.workspace);
  const View x = ctx.workspace.take(count, config::hidden_size), made = ctx.workspace.take(count, config::hidden_size);
  for (int i = 0; i < count; ++i)
    std::copy_n(normed.row(places[static_cast<size_t>(i)] / k), config::hidden_size, x.row(i));
  linear(ctx, count, made, run_gate(ctx, count, x, mlp), mlp.down);
  parallel_for(ctx, count, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t place = places[static_cast<size_t>(i)];
      const float share = shares.row(place / k)[place % k];
      float* out = hidden.row(place / k);
      for (int64_t j = 0; j < config::hidden_size; ++j) out[j] += share * made.row(i)[j];
    }
  });
}

// Every row goes through the shared expert, by the sigmoid of its gate.
static void add_shared(Context& ctx, int num_rows, View hidden, View normed, const MlpWeights& weights) {
  const Workspace::Scope scope(ctx.workspace);
  const View gate = ctx.workspace.take(num_rows, 1), made = ctx.workspace.take(num_rows, config::hidden_size);
  linear(ctx, num_rows, gate, normed, *weights.shared_gate);
  linear(ctx, num_rows, made, run_gate(ctx, num_rows, normed, *weights.shared), weights.shared->down);
  parallel_for(ctx, num_rows, 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float share = 1.0f / (1.0f + std::exp(-gate.row(row)[0]));
      float* out = hidden.row(row);
      for (int64_t j = 0; j < config::hidden_size; ++j) out[j] += share * made.row(row)[j];
    }
  });
}

void mlp_block(Context& ctx, int num_rows, View hidden, const MlpWeights& weights) {
  const Workspace::Scope scope(ctx.workspace);
  const View normed = ctx.workspace.take(num_rows, config::hidden_size);
  rms_norm(ctx, num_rows, normed, hidden, memory_view(weights.norm, config::hidden_size));
  if (weights.router == nullptr) {
    const GatedMlp& mlp = weights.experts[0];
    return linear_add(ctx, num_rows, hidden, run_gate(ctx, num_rows, normed, mlp), mlp.down);
  }
  const View scores = ctx.workspace.take(num_rows, config::num_experts);
  const View shares = ctx.workspace.take(num_rows, config::experts_per_token);
  std::vector<int32_t> chosen(static_cast<size_t>(num_rows) * config::experts_per_token), places;
  linear(ctx, num_rows, scores, normed, *weights.router);
  route(ctx, num_rows, scores, chosen.data(), shares);
  for (int32_t expert = 0; expert < config::num_experts; ++expert) {
    places.clear();
    for (size_t place = 0; place < chosen.size(); ++place)
      if (chosen[place] == expert) places.push_back(static_cast<int32_t>(place));
    if (!places.empty())
      add_expert(ctx, hidden, normed, weights.experts[static_cast<size_t>(expert)], places, shares);
  }
  add_shared(ctx, num_rows, hidden, normed, weights);
}
