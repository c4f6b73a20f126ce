// SPDX-License-Identifier: MIT
// moe.router: experts[rows, experts_per_token] = the largest of scores[rows, num_experts] f32, best first, lowest index
// of equal ones; weights are their share of the softmax, whose sum is kept in f64.
// Target: any x86-64; max |error of a weight| 1e-7.
// applies: hardware.platform=cpu-x86_64
#include "moe_router.h"
#include "runtime_threading.h"

// Whether (score, expert) comes after (last_score, last): a choice needs no list of what was chosen before it.
static bool comes_after(float score, int32_t expert, float last_score, int32_t last) {
  return score < last_score || (score == last_score && expert > last);
}

static void route_row(const float* scores, int32_t* experts, float* weights) {
  int32_t last = -1;
  float last_score = std::numeric_limits<float>::infinity();
  for (int i = 0; i < config::experts_per_token; ++i) {
    int32_t best = -1;
    for (int32_t expert = 0; expert < config::num_experts; ++expert)
      if (comes_after(scores[expert], expert, last_score, last) && (best < 0 || scores[expert] > scores[best]))
        best = expert;
    last = experts[i] = std::max(best, 0);  // below 0 only where a score is NaN
    last_score = scores[last];
  }
  const float highest = scores[experts[0]];
  double total = 0;
  const int counted = config::normalise_experts ? config::experts_per_token : config::num_experts;
  for (int i = 0; i < counted; ++i)
    total += std::exp(double{scores[config::normalise_experts ? experts[i] : i]} - double{highest});
  for (int i = 0; i < config::experts_per_token; ++i)
    weights[i] = static_cast<float>(std::exp(double{scores[experts[i]]} - double{highest}) / total);
}

void route(Context& ctx, int num_rows, View scores, int32_t* experts, View weights) {
  parallel_for(ctx, num_rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      route_row(scores.row(row), experts + row * config::experts_per_token, weights.row(row));
  });
}
