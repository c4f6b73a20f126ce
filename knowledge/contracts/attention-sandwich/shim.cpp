// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "attention_block.h"
#include "checkpoint_safetensors.h"
#include "kv_cache.h"
#include "position_rope.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

std::vector<Row> rows_of(const ShimTensor& positions) {
  std::vector<Row> rows;
  for (const int32_t position : positions.i) rows.push_back({0, 0, position});
  return rows;
}

void add(Checkpoint& checkpoint, const std::string& name, const ShimTensor& from) {
  checkpoint.add({name, DType::f32, from.shape, from.f.data()}, nullptr);
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  const int layer = static_cast<int>(c.numbers.at("layer"));
  const std::string prefix = "model.layers." + std::to_string(layer) + ".", self = prefix + "self_attn.";
  Checkpoint checkpoint;
  for (const std::string name : {"input_layernorm", "post_attention_layernorm"})
    add(checkpoint, prefix + name + ".weight", c.in.at(name));
  for (const std::string name : {"q_proj", "k_proj", "v_proj", "o_proj"})
    add(checkpoint, self + name + ".weight", c.in.at(name));
  const auto weights = load_attention(ctx, checkpoint, layer, std::make_shared<RopeTable>(load_rope(ctx)));
  const std::vector<Row> rows = rows_of(c.in.at("positions"));
  KvCache kv;
  kv_poison(kv);
  const ShimMatrix hidden(c.in.at("hidden"));
  const ShimRows placed(rows);
  attention_block(ctx, static_cast<int>(rows.size()), placed.data(), hidden.view(), *weights, kv, layer);
  c.out["hidden"] = hidden.download();
}
