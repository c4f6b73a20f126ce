// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "checkpoint_safetensors.h"
#include "head_logits.h"
#include "linear_dense.h"
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
  const Tensor* const stacked[] = {&checkpoint.take("model.embed_tokens.weight", c.in.at("table").shape)};
  const auto table = std::make_shared<Linear>(load_linear(ctx, stacked));
  std::shared_ptr<const Linear> head;
  try {  // a tied head is the table alone; an untied one cannot do without its own matrix
    head = load_head(ctx, checkpoint, table);
  } catch (const EngineError&) {
    add(checkpoint, "lm_head.weight", c.in.at("weight"));
    head = load_head(ctx, checkpoint, table);
  }
  const ShimMatrix x(c.in.at("x"));
  const int64_t num_rows = c.in.at("x").shape[0];
  const ShimMatrix out(shim_f32({num_rows, config::vocab_size}));
  head_logits(ctx, static_cast<int>(num_rows), out.view(), x.view(), *head);
  c.out["logits"] = out.download();
}
