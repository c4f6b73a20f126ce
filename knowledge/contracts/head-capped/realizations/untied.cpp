// SPDX-License-Identifier: MIT
// head.capped, untied: logits[rows, vocab_size] f32 = cap * tanh(x[rows, hidden_size] H^T / cap), with lm_head.weight H.
// Target: any x86-64; max |error| 1e-5.
// applies: hardware.platform=cpu-x86_64, model.tied_head=false
// requires: runtime.vectors
#include "head_logits.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

std::shared_ptr<const Linear> load_head(Context& ctx, Checkpoint& checkpoint, std::shared_ptr<const Linear>) {
  const Tensor* const weight[] = {&checkpoint.take("lm_head.weight", {config::vocab_size, config::hidden_size})};
  return std::make_shared<Linear>(load_linear(ctx, weight));
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
