// SPDX-License-Identifier: MIT
// position.rope-frequencies, linear: inv_freq[head_dim/2] = theta^(-2i/head_dim) / factor, f64. Any target;
// exact to 1e-15.
// applies: rope.scaling=linear
#include "position_rope_frequencies.h"

void rope_frequencies(double* inv_freq) {
  for (int i = 0; i < config::head_dim / 2; ++i)
    inv_freq[i] = std::pow(config::rope_theta, -2.0 * i / config::head_dim) / config::rope_factor;
}

double rope_attention_factor() { return 1; }
