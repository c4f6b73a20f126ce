// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "checkpoint_safetensors.h"
#include "embedding_token.h"
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
  add(checkpoint, "model.embed_tokens.weight", c.in.at("table"));
  const Linear table = load_embedding(ctx, checkpoint);
  std::vector<Row> rows;
  for (const int32_t id : c.in.at("ids").i) rows.push_back({id, 0, static_cast<int32_t>(rows.size())});
  const ShimRows placed(rows);
  const ShimMatrix out(shim_f32({static_cast<int64_t>(rows.size()), config::hidden_size}));
  embed(ctx, static_cast<int>(rows.size()), placed.data(), out.view(), table);
  c.out["out"] = out.download();
}
