// SPDX-License-Identifier: MIT
// decoder.model: the whole network: rows of any sequences in, logits of chosen rows out.
#pragma once
#include <span>
#include "checkpoint_safetensors.h"
#include "runtime_memory.h"

struct Model;  // weights, cache and what the platform keeps between calls

// Floats of scratch that a forward call of max_rows rows needs.
int64_t workspace_floats();
// Checks config.json, loads every tensor exactly once, packs the weights, lets the files go.
std::shared_ptr<Model> load_model(Context& ctx, const std::string& folder);
// What the checkpoint held and how often each tensor was read; data is gone.
const std::map<std::string, Tensor>& model_ledger(const Model& model);
int64_t model_kv_bytes(const Model& model);
// Sees the residual stream: stage 0 after the embedding, 1 + 2*layer after attention, 2 + 2*layer after the MLP, and
// 2*num_layers + 1 the final norm of logit_rows. Host memory.
using TraceSink = void (*)(void* user, int stage, int num_rows, View hidden /*[num_rows, hidden_size]*/);
// At most max_rows rows; the rows of one slot in order of position, and everything before them already in the cache.
// logit_rows index rows; rows, logit_rows and logits are host memory. EngineError where a token, slot or position is
// out of range. sink may be null.
void forward(Context& ctx, Model& model, std::span<const Row> rows, std::span<const int32_t> logit_rows,
             View logits /*[logit_rows, vocab_size]*/, TraceSink sink, void* user);
// Fills the KV cache and the scratch memory with NaN: nothing that a forward call didn't write may count.
void poison_state(Context& ctx, Model& model);
