// SPDX-License-Identifier: MIT
// head.logits, tied: logits[rows, vocab_size] f32 = x[rows, hidden_size] E^T with the embedding table E. Any target;
// tolerance as linear.dense.
// applies: model.tied_head=true
#include "head_logits.h"

std::shared_ptr<const Linear> load_head(Context&, Checkpoint& checkpoint, std::shared_ptr<const Linear> table) {
  const std::string name = "lm_head.weight", embedding = "model.embed_tokens.weight";
  if (!checkpoint.has(name)) return table;
  // Some checkpoints store the tied matrix twice. A different one would be weights that nobody reads.
  const Tensor& head = checkpoint.take(name, {config::vocab_size, config::hidden_size});
  const Tensor& shared = checkpoint.ledger().at(embedding);
  const int64_t bytes = element_bytes(head.dtype) * config::vocab_size * config::hidden_size;
  if (head.dtype != shared.dtype || std::memcmp(head.data, shared.data, static_cast<size_t>(bytes)) != 0)
    throw EngineError(name + " differs from " + embedding + ", though config.json ties them");
  return table;
}

void head_logits(Context& ctx, int num_rows, View logits, View x, const Linear& head) {
  linear(ctx, num_rows, logits, x, head);
}
