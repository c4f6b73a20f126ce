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

// Throws EngineError naming the first parameter out of range.
void check_sampling(const Sampling& sampling);

// logits: [vocab_size] f32. history: ids of prompt and continuation so far. step: number of the draw, from 0;
// the result depends on nothing but the arguments. Throws EngineError where the best logit isn't a finite number.
int32_t sample(std::span<const float> logits, std::span<const int32_t> history, const Sampling& sampling,
               uint64_t step);
