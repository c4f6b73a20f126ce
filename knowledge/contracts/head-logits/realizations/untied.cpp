// SPDX-License-Identifier: MIT
// head.logits, untied: logits[rows, vocab_size] f32 = x[rows, hidden_size] W^T with lm_head.weight. Any target;
// tolerance as linear.dense.
// applies: model.tied_head=false
#include "head_logits.h"

std::shared_ptr<const Linear> load_head(Context& ctx, Checkpoint& checkpoint, std::shared_ptr<const Linear>) {
  const Tensor* const weight[] = {&checkpoint.take("lm_head.weight", {config::vocab_size, config::hidden_size})};
  return std::make_shared<Linear>(load_linear(ctx, weight));
}

void head_logits(Context& ctx, int num_rows, View logits, View x, const Linear& head) {
  linear(ctx, num_rows, logits, x, head);
}
