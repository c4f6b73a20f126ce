// SPDX-License-Identifier: MIT
// attention.capped: out[rows, num_heads*head_dim] = softmax(cap * tanh(q k^T * scale / cap)) v per head, f32, one pass
// over the keys in blocks with a running maximum. A task is one row and one KV head with all its query heads, so keys
// and values are read once for the group. Blocks begin at multiples of `block` whatever the window is: a row's sums have
// one order. Target: any x86-64; max |error| 1e-6 * max |v|.
// applies: hardware.platform=cpu-x86_64, serving.kv=contiguous
// requires: runtime.vectors
#include "attention_core.h"
#include "runtime_threading.h"
#include "runtime_vectors.h"

constexpr int64_t group = config::num_heads / config::num_kv_heads, head_dim = config::head_dim;
constexpr int64_t vectors = KvCache::value_stride / lanes;  // of one value
constexpr int64_t registers = vectors % 8 == 0 ? 8 : vectors % 4 == 0 ? 4 : 1;  // sums held at once
constexpr int64_t block = KvCache::block;  // keys of a step: four vectors of chains per query head

struct AttentionState {
  vecf sums[vectors] = {};  // weighted values
  float maximum = -INFINITY, total = 0;
};

// cap * tanh(x / cap). Near 0, where 1 - e loses digits, by the series of tanh: its next term is below 1e-8 there.
static vecf soft_cap(vecf x) {
  const vecf y = x * (1.0f / config::attention_cap), square = y * y;
  const vecf size = y < vecf{} ? -y : y, e = exp_lanes(-2.0f * size), far = (1.0f - e) / (1.0f + e);
  const vecf near = ((square * 0.021869489f - 0.053968254f) * square + 0.13333333f) * square - 0.33333333f;
  return config::attention_cap * (size < splat(0.25f) ? y + y * square * near : y < vecf{} ? -far : far);
}

// Scores of one query against `block` keys; those outside [first, last] are -infinity, whatever memory holds there.
static void score_block(const float* query, const float* keys, int64_t begin, int64_t first, int64_t last,
                        vecf* scores) {
  vecf sums[4] = {};
  for (int64_t i = 0; i < head_dim; ++i)
#pragma GCC unroll 4
    for (int64_t j = 0; j < 4; ++j) sums[j] += query[i] * load(keys + (j * head_dim + i) * lanes);
  const int32_t from = static_cast<int32_t>(first - begin), to = static_cast<int32_t>(last - begin);
  veci place;
  for (int lane = 0; lane < lanes; ++lane) place[lane] = lane;
  for (int64_t j = 0; j < 4; ++j, place += lanes)
    scores[j] = ((place >= from) & (place <= to)) ? soft_cap(sums[j] * config::attention_scale) : splat(-INFINITY);
}

// Turns scores into weights relative to the running maximum, rescaling what was summed under the old one.
static void weigh_block(AttentionState& state, vecf* scores) {
  float maximum = state.maximum;
  for (int64_t j = 0; j < 4; ++j)
    for (int lane = 0; lane < lanes; ++lane) maximum = std::max(maximum, scores[j][lane]);
  const float kept = exp_lanes(splat(state.maximum - maximum))[0];
  vecf total{};
  for (int64_t j = 0; j < 4; ++j) {
    scores[j] = exp_lanes(scores[j] - maximum);
    total += scores[j];
  }
  state.maximum = maximum;
  state.total = state.total * kept + sum_lanes(total);
  for (vecf& sum : state.sums) sum *= kept;
}

static void attend(const float* query, float* out, const float* keys, const float* values, int64_t first,
                   int64_t last) {
  AttentionState states[group];
  for (int64_t begin = first / block * block; begin <= last; begin += block) {
    const int64_t from = std::max(begin, first), to = std::min(last, begin + block - 1);
    for (int64_t head = 0; head < group; ++head) {
      AttentionState& state = states[head];
      vecf scores[4];
      score_block(query + head * head_dim, keys + begin * head_dim, begin, first, last, scores);
      weigh_block(state, scores);
      float weights[block];
      std::memcpy(weights, scores, sizeof weights);
      for (int64_t part = 0; part < vectors; part += registers) {
        vecf sums[registers];
        std::memcpy(sums, state.sums + part, sizeof sums);
        for (int64_t position = from; position <= to; ++position) {
          const float* value = values + position * KvCache::value_stride + part * lanes;
#pragma GCC unroll 8
          for (int64_t i = 0; i < registers; ++i) sums[i] += weights[position - begin] * load(value + i * lanes);
        }
        std::memcpy(state.sums + part, sums, sizeof sums);
      }
    }
  }
  for (int64_t head = 0; head < group; ++head)
    for (int64_t i = 0; i < vectors; ++i)
      store(out + head * head_dim + i * lanes, states[head].sums[i] / states[head].total,
            std::min<int64_t>(lanes, head_dim - i * lanes));
}

void attention(Context& ctx, int num_rows, const Row* rows, View out, View q, const KvCache& kv, int layer) {
  const int64_t window = config::layer_windows[static_cast<size_t>(layer)];
  // Rows of one KV head are neighbours, so that its keys stay in cache.
  parallel_for(ctx, int64_t{num_rows} * config::num_kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task % num_rows;
      const int head = static_cast<int>(task / num_rows);
      const int64_t last = rows[row].position, first = window == 0 ? 0 : std::max<int64_t>(0, last - window + 1);
      attend(q.row(row) + head * group * head_dim, out.row(row) + head * group * head_dim,
             kv_keys(kv, layer, rows[row].slot, head), kv_values(kv, layer, rows[row].slot, head), first, last);
    }
  });
}
