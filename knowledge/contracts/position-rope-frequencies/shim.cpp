// SPDX-License-Identifier: MIT
#include "shim.h"

#include "position_rope_frequencies.h"

void run_case(ShimCase& c) {
  std::vector<double> inv_freq(config::head_dim / 2, std::numeric_limits<double>::quiet_NaN());
  rope_frequencies(inv_freq.data());
  ShimTensor out = shim_f32({config::head_dim / 2}), factor = shim_f32({1});
  for (size_t i = 0; i < inv_freq.size(); ++i) out.f[i] = static_cast<float>(inv_freq[i]);
  factor.f[0] = static_cast<float>(rope_attention_factor());
  c.out["inv_freq"] = out;
  c.out["attention_factor"] = factor;
}
