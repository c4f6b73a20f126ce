// SPDX-License-Identifier: MIT
// sampling.token: repetition penalty, temperature, top-k, top-p, min-p, then one draw; f32 logits, f64 inside; any CPU.
// applies: any
#include "sampling_token.h"
#include <functional>
#include <numeric>
#include "runtime_context.h"

namespace {
void check(bool holds, const char* message) {
  if (!holds) throw EngineError(message);
}

// The score that a token needs to be among the k best; tokens as good as the k-th are too.
double find_least(std::vector<double> scores, int32_t k) {
  if (k <= 0 || k >= ssize(scores)) return -std::numeric_limits<double>::infinity();
  std::nth_element(scores.begin(), scores.begin() + (k - 1), scores.end(), std::greater());
  return scores[k - 1];
}

// Zeroes all weights but the greatest: as few as make up the share p of the whole, at least one.
void keep_top_p(std::vector<double>& weights, double p) {
  const auto is_less = [&](int32_t a, int32_t b) { return weights[a] != weights[b] ? weights[a] < weights[b] : a > b; };
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> kept(weights.size());
  std::vector<int32_t> ids(weights.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::make_heap(ids.begin(), ids.end(), is_less);
  for (double share = 0; share < p && !ids.empty(); ids.pop_back()) {
    std::pop_heap(ids.begin(), ids.end(), is_less);
    kept[ids.back()] = weights[ids.back()];
    share += weights[ids.back()] / total;
  }
  weights = kept;
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
  const double temperature = sampling.temperature, penalty = sampling.repetition_penalty;
  check(temperature >= 0 && std::isfinite(temperature), "temperature: expected a number >= 0");
  check(sampling.top_k >= 0, "top_k: expected a whole number >= 0");
  check(sampling.top_p > 0 && sampling.top_p <= 1, "top_p: expected a number above 0, up to 1");
  check(sampling.min_p >= 0 && sampling.min_p <= 1, "min_p: expected a number from 0 to 1");
  check(penalty > 0 && std::isfinite(penalty), "repetition_penalty: expected a number above 0");
}

int32_t sample(std::span<const float> logits, std::span<const int32_t> history, const Sampling& sampling,
               uint64_t step) {
  std::vector<double> weights(logits.begin(), logits.end());
  for (const double logit : weights) check(!std::isnan(logit), "a logit isn't a number");
  std::vector<bool> is_seen(weights.size());
  const double penalty = sampling.repetition_penalty;
  for (const int32_t id : history) {
    if (id < 0 || id >= ssize(weights) || is_seen[id]) continue;
    is_seen[id] = true;
    weights[id] = weights[id] < 0 ? weights[id] * penalty : weights[id] / penalty;
  }
  const int32_t best = int32_t(std::ranges::max_element(weights) - weights.begin());
  const double most = weights[best];
  check(std::isfinite(most), "the best logit isn't finite");
  if (sampling.temperature == 0) return best;
  const double least = find_least(weights, sampling.top_k);
  // The probability as a multiple of the likeliest token's.
  for (double& weight : weights) weight = weight < least ? 0 : std::exp((weight - most) / sampling.temperature);
  if (sampling.top_p < 1) keep_top_p(weights, sampling.top_p);
  for (double& weight : weights) weight = weight < sampling.min_p ? 0 : weight;
  double left = std::accumulate(weights.begin(), weights.end(), 0.0) * draw_uniform(sampling.seed, step);
  for (int32_t id = 0; id < ssize(weights); ++id) {
    left -= weights[id];
    if (left < 0) return id;
  }
  return best;  // rounding only: left is a few ulp above 0
}
