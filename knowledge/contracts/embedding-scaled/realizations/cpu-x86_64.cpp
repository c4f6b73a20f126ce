// SPDX-License-Identifier: MIT
// embedding.scaled: out[rows, hidden_size] f32 = rows of the table * embedding_scale; the table is kept unscaled, as a
// Linear [vocab_size, hidden_size], so that a tied head can share it. Any processor; one rounding of f32.
// applies: hardware.platform=cpu-x86_64
#include "embedding_token.h"

Linear load_embedding(Context& ctx, Checkpoint& checkpoint) {
  const std::vector<int64_t> shape = {config::vocab_size, config::hidden_size};
  const Tensor* const table[] = {&checkpoint.take("model.embed_tokens.weight", shape)};
  return load_linear(ctx, table);
}

void embed(Context& ctx, int num_rows, const Row* rows, View out, const Linear& table) {
  linear_rows(ctx, num_rows, rows, out, table);
  for (int row = 0; row < num_rows; ++row)
    for (int64_t i = 0; i < config::hidden_size; ++i) out.row(row)[i] *= config::embedding_scale;
}
