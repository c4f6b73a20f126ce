// SPDX-License-Identifier: MIT
// sampling.token: the next token id from one row of logits.
#pragma once
#include <cstdint>
#include <span>

struct Sampling {
  double temperature = 0;         // 0: greedy
  int32_t top_k = 0;              // 0: all
  double top_p = 1;               // 1: all
  double min_p = 0;               // 0: all
  double repetition_penalty = 1;  // 1: none
  uint64_t seed = 0;
};
void check_sampling(const Sampling& sampling);  // EngineError names the first parameter out of range
// logits: [vocab_size] f32. history: ids of prompt and continuation so far. step: number of the draw, from 0. The
// result depends on nothing but the arguments. EngineError where a logit is NaN or the best one isn't finite.
int32_t sample(std::span<const float> logits, std::span<const int32_t> history, const Sampling& sampling,
               uint64_t step);
