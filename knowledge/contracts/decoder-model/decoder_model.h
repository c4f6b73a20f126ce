// SPDX-License-Identifier: MIT
// decoder.model: the whole network: rows of any sequences in, logits of chosen rows out.
#pragma once
#include "attention_block.h"
#include "linear_dense.h"
#include "mlp_gated.h"

struct Model {
  std::shared_ptr<const Linear> table, head;
  std::vector<std::shared_ptr<const AttentionWeights>> attention;
  std::vector<std::shared_ptr<const MlpWeights>> mlp;
  std::vector<float> final_norm;  // [hidden_size]
  KvCache kv;
  std::map<std::string, Tensor> ledger;  // what the checkpoint held and how often each was read; data is gone
};

// Floats of scratch that a forward call of max_rows rows needs.
int64_t workspace_floats();
// Checks config.json, loads every tensor exactly once, packs the weights, lets the files go.
Model load_model(Context& ctx, const std::string& folder);
// Sees the residual stream: stage 0 after the embedding, 1 + 2*layer after attention, 2 + 2*layer after the MLP, and
// 2*num_layers + 1 the final norm of logit_rows.
using TraceSink = void (*)(void* user, int stage, int num_rows, View hidden /*[num_rows, hidden_size]*/);
// At most max_rows rows; the rows of one slot in order of position, and everything before them already in the cache.
// logit_rows index rows. EngineError where a token, slot or position is out of range. sink may be null.
void forward(Context& ctx, Model& model, std::span<const Row> rows, std::span<const int32_t> logit_rows,
             View logits /*[logit_rows, vocab_size]*/, TraceSink sink, void* user);
// Fills the KV cache and the scratch memory with NaN: nothing that a forward call didn't write may count.
void poison_state(Context& ctx, Model& model);
