// SPDX-License-Identifier: MIT
// decoder.model, dense: embedding, num_layers of attention and MLP on the residual stream [rows, hidden_size] f32,
// final norm and head for the chosen rows only. Rows of several sequences share one pass over the weights.
// Target: any; max |error of a logit| 1e-3.
// applies: hardware.platform=cpu-x86_64
#include "decoder_model.h"
#include "attention_block.h"
#include "checkpoint_config.h"
#include "embedding_token.h"
#include "head_logits.h"
#include "mlp_gated.h"
#include "norm_rms.h"

struct Model {
  std::shared_ptr<const Linear> table, head;
  std::vector<std::shared_ptr<const AttentionWeights>> attention;
  std::vector<std::shared_ptr<const MlpWeights>> mlp;
  Memory final_norm;  // [hidden_size]
  std::map<std::string, Tensor> ledger;
  KvCache kv = {};
};

static void check(const char* what, int64_t value, int64_t limit) {
  if (value >= 0 && value < limit) return;
  throw EngineError(std::string(what) + " " + std::to_string(value) + " is outside 0.." + std::to_string(limit - 1));
}

int64_t workspace_floats() {
  constexpr int64_t attention = 2 * (config::num_heads + config::num_kv_heads) * config::head_dim;
  constexpr int64_t mlp = config::mlp_floats;
  constexpr int64_t padding = 8 * 16;  // each matrix rounds its rows up to 16 floats
  return config::max_rows * (3 * int64_t{config::hidden_size} + std::max(attention, mlp) + padding);
}

std::shared_ptr<Model> load_model(Context& ctx, const std::string& folder) {
  check_config(folder);
  Checkpoint checkpoint = open_checkpoint(folder);
  const auto table = std::make_shared<const Linear>(load_embedding(ctx, checkpoint));
  const auto rope_table = std::make_shared<const RopeTable>(load_rope(ctx));
  std::vector<std::shared_ptr<const AttentionWeights>> attention;
  std::vector<std::shared_ptr<const MlpWeights>> mlp;
  for (int layer = 0; layer < config::num_layers; ++layer) {
    attention.push_back(load_attention(ctx, checkpoint, layer, rope_table));
    mlp.push_back(load_mlp(ctx, checkpoint, layer));
  }
  Memory final_norm = to_memory(take_vector(checkpoint, "model.norm.weight", config::hidden_size));
  const auto head = load_head(ctx, checkpoint, table);
  checkpoint.finish();
  auto ledger = checkpoint.ledger();
  for (auto& [name, tensor] : ledger) tensor.data = nullptr;
  return std::make_shared<Model>(Model{table, head, attention, mlp, std::move(final_norm), ledger});
}

const std::map<std::string, Tensor>& model_ledger(const Model& model) { return model.ledger; }

int64_t model_kv_bytes(const Model& model) {
  return static_cast<int64_t>(model.kv.keys.bytes() + model.kv.values.bytes());
}

void forward(Context& ctx, Model& model, std::span<const Row> rows, std::span<const int32_t> logit_rows, View logits,
             TraceSink sink, void* user) {
  const int num_rows = static_cast<int>(rows.size()), num_logits = static_cast<int>(logit_rows.size());
  check("number of rows", num_rows, config::max_rows + 1);
  for (const Row& row : rows) {
    check("token id", row.token, config::vocab_size);
    check("slot", row.slot, config::max_batch);
    check("position", row.position, config::max_context);
  }
  const Workspace::Scope scope(ctx.workspace);
  const View hidden = ctx.workspace.take(num_rows, config::hidden_size);
  const auto trace = [&](int stage, int count, View stream) {
    if (sink != nullptr) sink(user, stage, count, stream);
  };
  embed(ctx, num_rows, rows.data(), hidden, *model.table);
  trace(0, num_rows, hidden);
  for (int layer = 0; layer < config::num_layers; ++layer) {
    attention_block(ctx, num_rows, rows.data(), hidden, *model.attention[size_t(layer)], model.kv, layer);
    trace(1 + 2 * layer, num_rows, hidden);
    mlp_block(ctx, num_rows, hidden, *model.mlp[size_t(layer)]);
    trace(2 + 2 * layer, num_rows, hidden);
  }
  const View chosen = ctx.workspace.take(num_logits, config::hidden_size);
  for (int i = 0; i < num_logits; ++i)
    std::copy_n(hidden.row(logit_rows[static_cast<size_t>(i)]), config::hidden_size, chosen.row(i));
  rms_norm(ctx, num_logits, chosen, chosen, memory_view(model.final_norm, config::hidden_size));
  trace(2 * config::num_layers + 1, num_logits, chosen);
  head_logits(ctx, num_logits, logits, chosen, *model.head);
}

void poison_state(Context& ctx, Model& model) {
  kv_poison(model.kv);
  ctx.workspace.poison();
}
