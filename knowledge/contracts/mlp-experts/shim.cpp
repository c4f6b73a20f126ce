// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "checkpoint_safetensors.h"
#include "mlp_gated.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

// `count` matrices of equal shape in one tensor [count * rows, columns]: the one of index `which`.
void add(Checkpoint& checkpoint, const std::string& name, const ShimTensor& from, int64_t count, int64_t which) {
  const int64_t rows = from.shape[0] / count, columns = from.shape[1];
  checkpoint.add({name, DType::f32, {rows, columns}, from.f.data() + which * rows * columns}, nullptr);
}

void add_experts(ShimCase& c, Checkpoint& checkpoint, const std::string& prefix) {
  const std::string own = prefix + std::string(config::expert_prefix), shared = prefix + "mlp.shared_expert";
  add(checkpoint, own + "gate.weight", c.in.at("router"), 1, 0);
  const std::pair<std::string, std::string_view> parts[] = {{"expert_gate", config::expert_gate_name},
                                                            {"expert_up", config::expert_up_name},
                                                            {"expert_down", config::expert_down_name}};
  for (int64_t expert = 0; expert < config::num_experts; ++expert)
    for (const auto& [from, to] : parts)
      add(checkpoint, own + "experts." + std::to_string(expert) + "." + std::string(to) + ".weight", c.in.at(from),
          config::num_experts, expert);
  if (config::shared_expert_size == 0) return;
  add(checkpoint, shared + "_gate.weight", c.in.at("shared_expert_gate"), 1, 0);
  for (const std::string name : {"gate_proj", "up_proj", "down_proj"})
    add(checkpoint, shared + "." + name + ".weight", c.in.at("shared_" + name), 1, 0);
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  const int layer = static_cast<int>(c.numbers.at("layer"));
  const std::string prefix = "model.layers." + std::to_string(layer) + ".";
  Checkpoint checkpoint;
  const ShimTensor& norm = c.in.at("post_attention_layernorm");
  checkpoint.add({prefix + "post_attention_layernorm.weight", DType::f32, norm.shape, norm.f.data()}, nullptr);
  if (config::expert_layers[static_cast<size_t>(layer)] != 0) add_experts(c, checkpoint, prefix);
  else
    for (const std::string name : {"gate_proj", "up_proj", "down_proj"})
      add(checkpoint, prefix + "mlp." + name + ".weight", c.in.at(name), 1, 0);
  const auto weights = load_mlp(ctx, checkpoint, layer);
  checkpoint.finish();
  const ShimMatrix hidden(c.in.at("hidden"));
  mlp_block(ctx, static_cast<int>(c.in.at("hidden").shape[0]), hidden.view(), *weights);
  c.out["hidden"] = hidden.download();
}
