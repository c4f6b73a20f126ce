// SPDX-License-Identifier: MIT
// position.rope, CUDA: rotates x[rows, heads*head_dim] in place, f32, pairs (i, i + head_dim/2), from a table of cos and
// sin [max_context, head_dim/2] computed in f64 on the host. A thread has one pair. Target: sm_80, sm_90; max |error|
// 1e-7 * |x|.
// applies: hardware.platform=cuda
// requires: runtime.cuda
#include "position_rope.h"
#include "position_rope_frequencies.h"
#include "runtime_cuda.h"
#include "runtime_threading.h"

constexpr int pairs = config::head_dim / 2;
constexpr int block_threads = 128;

RopeTable load_rope(Context& ctx) {
  double inv_freq[pairs];
  rope_frequencies(inv_freq);
  const double factor = rope_attention_factor();
  std::vector<float> cos(static_cast<size_t>(config::max_context) * pairs), sin(cos.size());
  parallel_for(ctx, config::max_context, 64, [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      for (int64_t i = 0; i < pairs; ++i) {
        const double angle = static_cast<double>(position) * inv_freq[i];
        const size_t at = static_cast<size_t>(position * pairs + i);
        cos[at] = static_cast<float>(std::cos(angle) * factor);
        sin[at] = static_cast<float>(std::sin(angle) * factor);
      }
    }
  });
  return {to_memory(cos), to_memory(sin)};
}

// Block (row, part of the row's pairs).
__global__ void rotate_rows(const Row* rows, View x, int heads, const float* cos, const float* sin) {
  const int at = static_cast<int>(blockIdx.y * block_threads + threadIdx.x);
  if (at >= heads * pairs) return;
  const int head = at / pairs, i = at % pairs;
  const int64_t entry = int64_t{rows[blockIdx.x].position} * pairs + i;
  float* first = row_of(x, blockIdx.x) + int64_t{head} * config::head_dim + i;
  float* second = first + pairs;
  const float a = *first, b = *second;
  *first = fmaf(a, cos[entry], -(b * sin[entry]));
  *second = fmaf(b, cos[entry], a * sin[entry]);
}

void rope(Context&, int num_rows, const Row* rows, View x, int heads, const RopeTable& table) {
  const int parts = (heads * pairs + block_threads - 1) / block_threads;
  launch("rope", rotate_rows, dim3(static_cast<unsigned>(num_rows), static_cast<unsigned>(parts)), block_threads, rows,
         x, heads, table.cos.as<float>(), table.sin.as<float>());
}
