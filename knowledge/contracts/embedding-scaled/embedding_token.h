// SPDX-License-Identifier: MIT
// embedding.scaled: the embedding table, and rows of it times config::embedding_scale.
#pragma once
#include "linear_dense.h"


// Takes model.embed_tokens.weight.
Linear load_embedding(Context& ctx, Checkpoint& checkpoint);
void embed(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View out /*[num_rows, hidden_size]*/,
           const Linear& table /*[vocab_size, hidden_size]*/);
