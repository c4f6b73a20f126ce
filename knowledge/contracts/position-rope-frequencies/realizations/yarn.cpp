// SPDX-License-Identifier: MIT
// position.rope-frequencies, yarn: inv_freq[head_dim/2], f64: dimensions that turn more than beta_fast times within the
// original length stay, those that turn less than beta_slow times are divided by factor, a ramp over the dimension
// index lies between. cos and sin are multiplied by attention_factor. Any target; exact to 1e-14.
// applies: rope.scaling=yarn
#include "position_rope_frequencies.h"

// The dimension whose wave turns `turns` times within the original length.
static double dimension_of(double turns) {
  constexpr double pi = 3.14159265358979323846;
  return config::head_dim * std::log(config::rope_original_max_positions / (turns * 2 * pi)) /
         (2 * std::log(config::rope_theta));
}

void rope_frequencies(double* inv_freq) {
  double low = dimension_of(config::rope_beta_fast), high = dimension_of(config::rope_beta_slow);
  if constexpr (config::rope_truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, config::head_dim - 1.0);
  if (low == high) high += 0.001;  // as transformers: no division by zero
  for (int i = 0; i < config::head_dim / 2; ++i) {
    const double frequency = std::pow(config::rope_theta, -2.0 * i / config::head_dim);
    const double slowed = std::clamp((i - low) / (high - low), 0.0, 1.0);
    inv_freq[i] = slowed * frequency / config::rope_factor + (1 - slowed) * frequency;
  }
}

double rope_attention_factor() { return config::rope_attention_factor; }
