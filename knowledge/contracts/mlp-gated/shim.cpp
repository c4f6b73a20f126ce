// SPDX-License-Identifier: MIT
#include "shim.h"

#include "checkpoint_safetensors.h"
#include "mlp_gated.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 24;

View view_of(ShimTensor& tensor) { return f32_view(tensor.f.data(), tensor.shape.back()); }

void add(Checkpoint& checkpoint, const std::string& name, const ShimTensor& from) {
  checkpoint.add({name, DType::f32, from.shape, from.f.data()}, nullptr);
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  Context ctx{pool, workspace};
  Checkpoint checkpoint;
  add(checkpoint, "model.layers.0.post_attention_layernorm.weight", c.in.at("post_attention_layernorm"));
  for (const std::string name : {"gate_proj", "up_proj", "down_proj"})
    add(checkpoint, "model.layers.0.mlp." + name + ".weight", c.in.at(name));
  const auto weights = load_mlp(ctx, checkpoint, 0);
  ShimTensor& hidden = c.in.at("hidden");
  mlp_block(ctx, static_cast<int>(hidden.shape[0]), view_of(hidden), *weights);
  c.out["hidden"] = hidden;
}
