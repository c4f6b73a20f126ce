// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "checkpoint_safetensors.h"
#include "mlp_gated.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

void add(Checkpoint& checkpoint, const std::string& name, const ShimTensor& from) {
  checkpoint.add({name, DType::f32, from.shape, from.f.data()}, nullptr);
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  Checkpoint checkpoint;
  for (const std::string name : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
    add(checkpoint, "model.layers.0." + name + ".weight", c.in.at(name));
  for (const std::string name : {"gate_proj", "up_proj", "down_proj"})
    add(checkpoint, "model.layers.0.mlp." + name + ".weight", c.in.at(name));
  const auto weights = load_mlp(ctx, checkpoint, 0);
  const ShimMatrix hidden(c.in.at("hidden"));
  mlp_block(ctx, static_cast<int>(c.in.at("hidden").shape[0]), hidden.view(), *weights);
  c.out["hidden"] = hidden.download();
}
