// SPDX-License-Identifier: MIT
#include "shim.h"

#include "checkpoint_safetensors.h"
#include "embedding_token.h"
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
  add(checkpoint, "model.embed_tokens.weight", c.in.at("table"));
  const Linear table = load_embedding(ctx, checkpoint);
  std::vector<Row> rows;
  for (const int32_t id : c.in.at("ids").i) rows.push_back({id, 0, static_cast<int32_t>(rows.size())});
  ShimTensor out = shim_f32({static_cast<int64_t>(rows.size()), config::hidden_size});
  embed(ctx, static_cast<int>(rows.size()), rows.data(), view_of(out), table);
  c.out["out"] = out;
}
