// SPDX-License-Identifier: MIT
// norm.rms-offset: out[rows, n] = x / sqrt(mean(x^2) + eps) * (1 + gain), f32; squares summed in 2 * `lanes` chains (one
// f32 chain would lose 1e-5 at n = 8192). Target: any x86-64; max |error| 1e-6 * |out|.
// applies: hardware.platform=cpu-x86_64
// requires: runtime.vectors
#include "norm_rms.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

static void norm_row(const float* x, const float* gain, float* out, int64_t n) {
  vecf sums[2] = {};
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const vecf a = load(x + i), b = load(x + i + lanes);
    sums[0] += a * a;
    sums[1] += b * b;
  }
  for (int k = 0; i < n; i += lanes, ++k) {
    const vecf a = load(x + i, std::min<int64_t>(lanes, n - i));
    sums[k] += a * a;
  }
  const float mean = sum_lanes(sums[0] + sums[1]) / static_cast<float>(n);
  const float scale = 1.0f / std::sqrt(mean + config::rms_norm_eps);
  for (i = 0; i + lanes <= n; i += lanes) store(out + i, load(x + i) * scale * (1.0f + load(gain + i)));
  if (i < n) store(out + i, load(x + i, n - i) * scale * (1.0f + load(gain + i, n - i)), n - i);
}

void rms_norm(Context& ctx, int num_rows, View out, View x, View gain) {
  parallel_for(ctx, num_rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) norm_row(x.row(row), gain.row(0), out.row(row), gain.columns);
  });
}
