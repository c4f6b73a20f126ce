// SPDX-License-Identifier: MIT
// position.rope: rotates x[rows, heads*head_dim] in place, f32, pairs (i, i + head_dim/2), from a table of cos and sin
// [max_context, head_dim/2] computed in f64. Target: any x86-64; max |error| 1e-7 * |x|.
// applies: hardware.platform=cpu-x86_64
#include "position_rope.h"
#include "position_rope_frequencies.h"
#include "runtime_threading.h"

constexpr int64_t half = config::head_dim / 2;

RopeTable load_rope(Context& ctx) {
  double inv_freq[half];
  rope_frequencies(inv_freq);
  const double factor = rope_attention_factor();
  const size_t size = static_cast<size_t>(config::max_context * half);
  std::vector<float> cos(size), sin(size);
  parallel_for(ctx, config::max_context, 64, [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position) * inv_freq[i];
        const size_t at = static_cast<size_t>(position * half + i);
        cos[at] = static_cast<float>(std::cos(angle) * factor);
        sin[at] = static_cast<float>(std::sin(angle) * factor);
      }
    }
  });
  return {to_memory(cos), to_memory(sin)};
}

void rope(Context& ctx, int num_rows, const Row* rows, View x, int heads, const RopeTable& table) {
  parallel_for(ctx, num_rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* cos = table.cos.as<const float>() + rows[row].position * half;
      const float* sin = table.sin.as<const float>() + rows[row].position * half;
      for (int head = 0; head < heads; ++head) {
        float* first = x.row(row) + int64_t{head} * config::head_dim;
        float* second = first + half;
        for (int64_t i = 0; i < half; ++i) {
          const float a = first[i], b = second[i];
          first[i] = a * cos[i] - b * sin[i];
          second[i] = b * cos[i] + a * sin[i];
        }
      }
    }
  });
}
