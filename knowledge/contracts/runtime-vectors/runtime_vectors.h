// SPDX-License-Identifier: MIT
// runtime.vectors: the vector type of code for processors, and what is computed on it in one fixed order.
#pragma once
#include "runtime_context.h"

// The vector type: config::vector_width f32 lanes. The same source is the wide and the portable version.
inline constexpr int lanes = config::vector_width;
typedef float vecf __attribute__((vector_size(4 * lanes)));
typedef int32_t veci __attribute__((vector_size(4 * lanes)));

inline vecf splat(float value) { return value - vecf{}; }
// The first `count` elements, zeros behind them: never touches memory past them.
inline vecf load(const float* from, int64_t count = lanes) {
  vecf value{};
  std::memcpy(&value, from, static_cast<size_t>(count) * 4);
  return value;
}
inline void store(float* to, vecf value, int64_t count = lanes) {
  std::memcpy(to, &value, static_cast<size_t>(count) * 4);
}
// Sum of the lanes, halves folded together: one fixed order.
inline float sum_lanes(vecf value) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    veci other;
    for (int i = 0; i < lanes; ++i) other[i] = i ^ half;
    value += __builtin_shuffle(value, other);
  }
  return value[0];
}

// e^x within 2 ulp; exactly 0 below -87.3 (so for -inf), e^88 above 88. Cephes' polynomial on |r| <= ln2/2.
inline vecf exp_lanes(vecf x) {
  const vecf floored = x < splat(-87.3f) ? splat(-87.3f) : x;
  const vecf clamped = floored > splat(88.0f) ? splat(88.0f) : floored;
  const vecf shifted = clamped * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the addition rounds to a whole number
  const vecf n = shifted - 12582912.0f;
  const vecf r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;
  vecf p = (splat(1.9875691500e-4f) * r + 1.3981999507e-3f) * r + 8.3334519073e-3f;
  p = ((p * r + 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const veci power = (__builtin_convertvector(n, veci) + 127) << 23;
  return x < splat(-87.3f) ? vecf{} : p * vecf(power);
}
