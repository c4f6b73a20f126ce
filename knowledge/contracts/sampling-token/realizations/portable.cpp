// SPDX-License-Identifier: MIT
// sampling.token: repetition penalty, temperature, top-k, top-p, min-p, then one draw; f32 logits, f64 inside; any CPU.
// applies: any
#include "sampling_token.h"

#include <vector>

#include "runtime_context.h"

namespace {

struct Scored {
  double score;
  int32_t id;
  bool operator<(const Scored& other) const { return score != other.score ? score < other.score : id > other.id; }
};

void penalise(std::vector<Scored>& scored, std::span<const int32_t> history, double penalty) {
  std::vector<bool> is_seen(scored.size());
  for (const int32_t id : history) {
    if (id < 0 || size_t(id) >= scored.size() || is_seen[id]) continue;
    is_seen[id] = true;
    scored[id].score = scored[id].score < 0 ? scored[id].score * penalty : scored[id].score / penalty;
  }
}

// Keeps the k best and whatever equals the k-th.
void keep_top_k(std::vector<Scored>& scored, int32_t k) {
  if (k <= 0 || size_t(k) >= scored.size()) return;
  std::vector<Scored> ordered = scored;
  std::nth_element(ordered.begin(), ordered.begin() + (k - 1), ordered.end(), [](auto& a, auto& b) { return b < a; });
  std::erase_if(scored, [least = ordered[k - 1].score](const Scored& token) { return token.score < least; });
}

// Keeps the likeliest tokens until their share of the whole reaches p; at least one.
void keep_top_p(std::vector<Scored>& weighed, double p) {
  if (p >= 1) return;
  double total = 0, share = 0;
  for (const Scored& token : weighed) total += token.score;
  std::make_heap(weighed.begin(), weighed.end());
  auto end = weighed.end();
  do {
    std::pop_heap(weighed.begin(), end--);
    share += end->score / total;
  } while (end != weighed.begin() && share < p);
  weighed.erase(weighed.begin(), end);
  std::sort(weighed.begin(), weighed.end(), [](const Scored& a, const Scored& b) { return a.id < b.id; });
}

// Uniform in [0, 1), 53 bits: splitmix64 of the seed, `step` + 1 increments on.
double draw_uniform(uint64_t seed, uint64_t step) {
  uint64_t z = seed + (step + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return double((z ^ z >> 31) >> 11) * 0x1p-53;
}

}  // namespace

void check_sampling(const Sampling& sampling) {
  const auto check = [](bool holds, const char* message) {
    if (!holds) throw EngineError(message);
  };
  check(sampling.temperature >= 0 && std::isfinite(sampling.temperature), "temperature: expected a number >= 0");
  check(sampling.top_k >= 0, "top_k: expected a whole number >= 0");
  check(sampling.top_p > 0 && sampling.top_p <= 1, "top_p: expected a number above 0, up to 1");
  check(sampling.min_p >= 0 && sampling.min_p <= 1, "min_p: expected a number from 0 to 1");
  check(sampling.repetition_penalty > 0 && std::isfinite(sampling.repetition_penalty),
        "repetition_penalty: expected a number above 0");
}

int32_t sample(std::span<const float> logits, std::span<const int32_t> history, const Sampling& sampling,
               uint64_t step) {
  std::vector<Scored> scored;
  for (const float logit : logits) {
    if (std::isnan(logit)) throw EngineError("logit " + std::to_string(scored.size()) + " isn't a number");
    scored.push_back({logit, int32_t(scored.size())});
  }
  penalise(scored, history, sampling.repetition_penalty);
  const Scored best = *std::max_element(scored.begin(), scored.end());
  if (!std::isfinite(best.score)) throw EngineError("the best logit isn't finite");
  if (sampling.temperature == 0) return best.id;
  keep_top_k(scored, sampling.top_k);
  // From here on a score is a weight: the probability as a multiple of the likeliest token's.
  for (Scored& token : scored) token.score = std::exp((token.score - best.score) / sampling.temperature);
  keep_top_p(scored, sampling.top_p);
  std::erase_if(scored, [&](const Scored& token) { return token.score < sampling.min_p; });
  double left = 0;
  for (const Scored& token : scored) left += token.score;
  left *= draw_uniform(sampling.seed, step);
  for (const Scored& token : scored) {
    left -= token.score;
    if (left < 0) return token.id;
  }
  return best.id;  // rounding only: left is a few ulp above 0
}
