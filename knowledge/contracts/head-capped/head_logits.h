// SPDX-License-Identifier: MIT
// head.capped: the scores of the whole vocabulary from the normalised hidden state, softly capped.
#pragma once
#include "linear_dense.h"

// The matrix of the head [vocab_size, hidden_size]: the embedding table where tied, else lm_head.weight.
std::shared_ptr<const Linear> load_head(Context& ctx, Checkpoint& checkpoint, std::shared_ptr<const Linear> table);
void head_logits(Context& ctx, int num_rows, View logits /*[num_rows, vocab_size]*/, View x /*[num_rows, hidden_size]*/,
                 const Linear& head);
