// SPDX-License-Identifier: MIT
// kv.cache, contiguous: f32 keys [layer][slot][kv_head][position/lanes][head_dim][lanes], values
// [layer][slot][kv_head][position][head_dim rounded up to lanes]. Target: any x86-64; exact.
// applies: hardware.platform=cpu-x86_64, serving.kv=contiguous
#include "kv_cache.h"
#include "runtime_threading.h"

static int64_t head_index(int layer, int slot, int kv_head) {
  return (int64_t{layer} * config::max_batch + slot) * config::num_kv_heads + kv_head;
}

float* kv_keys(const KvCache& kv, int layer, int slot, int kv_head) {
  return kv.keys.as<float>() + head_index(layer, slot, kv_head) * KvCache::positions * config::head_dim;
}

float* kv_values(const KvCache& kv, int layer, int slot, int kv_head) {
  return kv.values.as<float>() + head_index(layer, slot, kv_head) * KvCache::positions * KvCache::value_stride;
}

void kv_append(Context& ctx, int num_rows, const Row* rows, View k, View v, KvCache& kv, int layer) {
  parallel_for(ctx, num_rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t position = rows[row].position;
      for (int head = 0; head < config::num_kv_heads; ++head) {
        float* keys = kv_keys(kv, layer, rows[row].slot, head) + position / KvCache::lanes * KvCache::lanes * config::head_dim;
        float* value = kv_values(kv, layer, rows[row].slot, head) + position * KvCache::value_stride;
        for (int64_t i = 0; i < config::head_dim; ++i) {
          keys[i * KvCache::lanes + position % KvCache::lanes] = k.row(row)[int64_t{head} * config::head_dim + i];
          value[i] = v.row(row)[int64_t{head} * config::head_dim + i];
        }
      }
    }
  });
}

void kv_poison(KvCache& kv) {
  for (const Memory* memory : {&kv.keys, &kv.values}) fill_nan(*memory);
}
