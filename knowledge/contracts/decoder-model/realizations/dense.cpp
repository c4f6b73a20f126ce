// SPDX-License-Identifier: MIT
// decoder.model, dense: embedding, num_layers of attention and MLP on the residual stream [rows, hidden_size] f32,
// final norm and head for the chosen rows only. Rows of several sequences share one pass over the weights.
// Target: any; max |error of a logit| 1e-3.
// applies: hardware.platform=cpu-x86_64
#include "decoder_model.h"
#include "checkpoint_config.h"
#include "embedding_token.h"
#include "head_logits.h"
#include "norm_rms.h"

static void check(const char* what, int64_t value, int64_t limit) {
  if (value >= 0 && value < limit) return;
  throw EngineError(std::string(what) + " " + std::to_string(value) + " is outside 0.." + std::to_string(limit - 1));
}

int64_t workspace_floats() {
  constexpr int64_t attention = 2 * (config::num_heads + config::num_kv_heads) * config::head_dim;
  constexpr int64_t mlp = 2 * int64_t{config::intermediate_size};
  constexpr int64_t padding = 8 * 16;  // each matrix rounds its rows up to 16 floats
  return config::max_rows * (3 * int64_t{config::hidden_size} + std::max(attention, mlp) + padding);
}

Model load_model(Context& ctx, const std::string& folder) {
  check_config(folder);
  Checkpoint checkpoint = open_checkpoint(folder);
  Model model;
  model.table = std::make_shared<Linear>(load_embedding(ctx, checkpoint));
  const auto rope_table = std::make_shared<RopeTable>(load_rope(ctx));
  for (int layer = 0; layer < config::num_layers; ++layer) {
    model.attention.push_back(load_attention(ctx, checkpoint, layer, rope_table));
    model.mlp.push_back(load_mlp(ctx, checkpoint, layer));
  }
  model.final_norm = take_vector(checkpoint, "model.norm.weight", config::hidden_size);
  model.head = load_head(ctx, checkpoint, model.table);
  checkpoint.finish();
  model.ledger = checkpoint.ledger();
  for (auto& [name, tensor] : model.ledger) tensor.data = nullptr;
  return model;
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
  rms_norm(ctx, num_logits, chosen, chosen, vector_view(model.final_norm));
  trace(2 * config::num_layers + 1, num_logits, chosen);
  head_logits(ctx, num_logits, logits, chosen, *model.head);
}

void poison_state(Context& ctx, Model& model) {
  kv_poison(model.kv);
  ctx.workspace.poison();
}
