// SPDX-License-Identifier: MIT
// position.rope-frequencies, llama3: inv_freq[head_dim/2], f64: waves longer than original/low are slowed down by
// factor, those shorter than original/high stay, and between the two the share changes linearly.
// Any target; exact to 1e-15.
// applies: rope.scaling=llama3
#include "position_rope_frequencies.h"

void rope_frequencies(double* inv_freq) {
  constexpr double pi = 3.14159265358979323846, original = config::rope_original_max_positions;
  constexpr double low = config::rope_low_freq_factor, high = config::rope_high_freq_factor;
  for (int i = 0; i < config::head_dim / 2; ++i) {
    const double frequency = std::pow(config::rope_theta, -2.0 * i / config::head_dim);
    const double wavelength = 2 * pi / frequency;
    const double kept = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
    inv_freq[i] = kept * frequency + (1 - kept) * frequency / config::rope_factor;
  }
}

double rope_attention_factor() { return 1; }
