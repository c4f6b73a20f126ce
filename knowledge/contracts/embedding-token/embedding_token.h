// SPDX-License-Identifier: MIT
// embedding.token: the row of the table for each token.
#pragma once
#include "linear_dense.h"

// Takes model.embed_tokens.weight.
Linear load_embedding(Context& ctx, Checkpoint& checkpoint);
void embed(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View out /*[num_rows, hidden_size]*/,
           const Linear& table /*[vocab_size, hidden_size]*/);
