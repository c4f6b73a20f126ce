// SPDX-License-Identifier: MIT
// head.capped, tied: logits[rows, vocab_size] f32 = cap * tanh(x[rows, hidden_size] E^T / cap), with the embedding table E.
// Target: any x86-64; max |error| 1e-5.
// applies: hardware.platform=cpu-x86_64, model.tied_head=true
// requires: runtime.vectors
#include "head_logits.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

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

// cap * tanh(x / cap) for `count` <= lanes logits. Near 0, where 1 - e loses digits, by the series of tanh: its next term
// is below 1e-8 there.
static void cap_lanes(float* logits, int64_t count = lanes) {
  const vecf y = load(logits, count) * (1.0f / config::final_cap), square = y * y;
  const vecf size = y < vecf{} ? -y : y, e = exp_lanes(-2.0f * size), far = (1.0f - e) / (1.0f + e);
  const vecf near = ((square * 0.021869489f - 0.053968254f) * square + 0.13333333f) * square - 0.33333333f;
  store(logits, config::final_cap * (size < splat(0.25f) ? y + y * square * near : y < vecf{} ? -far : far), count);
}

void head_logits(Context& ctx, int num_rows, View logits, View x, const Linear& head) {
  linear(ctx, num_rows, logits, x, head);
  // Whole vectors at the same columns for any number of threads and rows.
  constexpr int64_t pieces = (config::vocab_size + lanes - 1) / lanes;
  parallel_for(ctx, num_rows * pieces, 512, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece % pieces * lanes;
      cap_lanes(logits.row(piece / pieces) + first, std::min<int64_t>(lanes, config::vocab_size - first));
    }
  });
}
