// SPDX-License-Identifier: MIT
// kv.cache: keys and values of every layer, slot and position, contiguous per KV head.
#pragma once
#include "runtime_memory.h"

// Keys lie `lanes` positions together, transposed: one vector of a processor holds one dimension of `lanes` keys. On a
// GPU lanes is 1: a key is a row. Values lie by position. On a host, memory is committed when written.
struct KvCache {
  static constexpr int64_t lanes = config::vector_width;
  static constexpr int64_t block = 4 * lanes;  // whole blocks of positions may be read, written or not
  static constexpr int64_t positions = round_up(config::max_context, block);
  static constexpr int64_t value_stride = round_up(config::head_dim, lanes);
  static constexpr int64_t heads = int64_t{config::num_layers} * config::max_batch * config::num_kv_heads;
  Memory keys{static_cast<size_t>(heads * positions * config::head_dim) * 4, Memory::Pages::small};
  Memory values{static_cast<size_t>(heads * positions * value_stride) * 4, Memory::Pages::small};
};

// Writes each row's k and v at its slot and position.
void kv_append(Context& ctx, int num_rows, const Row* rows /*[num_rows]*/, View k /*[num_rows, num_kv_heads*head_dim]*/,
               View v /*[num_rows, num_kv_heads*head_dim]*/, KvCache& kv, int layer);
float* kv_keys(const KvCache& kv, int layer, int slot, int kv_head);    // [positions/lanes, head_dim, lanes]
float* kv_values(const KvCache& kv, int layer, int slot, int kv_head);  // [positions, value_stride]
void kv_poison(KvCache& kv);                                            // all NaN
