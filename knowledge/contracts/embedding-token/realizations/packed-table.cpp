// SPDX-License-Identifier: MIT
// embedding.token: out[rows, hidden_size] f32 = rows of the table, which is kept as a Linear [vocab_size, hidden_size]
// so that a tied head can share it. Any target; exact (the table's own rounding apart).
// applies: hardware.platform=cpu-x86_64|cuda
#include "embedding_token.h"

Linear load_embedding(Context& ctx, Checkpoint& checkpoint) {
  const std::vector<int64_t> shape = {config::vocab_size, config::hidden_size};
  const Tensor* const table[] = {&checkpoint.take("model.embed_tokens.weight", shape)};
  return load_linear(ctx, table);
}

void embed(Context& ctx, int num_rows, const Row* rows, View out, const Linear& table) {
  linear_rows(ctx, num_rows, rows, out, table);
}
