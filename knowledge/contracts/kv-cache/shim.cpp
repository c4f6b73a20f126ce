// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "kv_cache.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

// slots: null = all in slot 0.
std::vector<Row> rows_of(const ShimTensor& positions, const ShimTensor* slots = nullptr) {
  std::vector<Row> rows;
  for (size_t i = 0; i < positions.i.size(); ++i)
    rows.push_back({0, slots == nullptr ? 0 : slots->i[i], positions.i[i]});
  return rows;
}

// What a whole head of a slot holds, by the layout that kv_cache.h promises.
struct Head {
  std::vector<float> keys, values;
  Head(const KvCache& kv, int layer, int slot, int head)
      : keys(static_cast<size_t>(KvCache::positions * config::head_dim)),
        values(static_cast<size_t>(KvCache::positions * KvCache::value_stride)) {
    copy_memory(keys.data(), kv_keys(kv, layer, slot, head), keys.size() * 4);
    copy_memory(values.data(), kv_values(kv, layer, slot, head), values.size() * 4);
  }
  float key(int64_t position, int64_t i) const {
    const int64_t block = position / KvCache::lanes, lane = position % KvCache::lanes;
    return keys[static_cast<size_t>((block * config::head_dim + i) * KvCache::lanes + lane)];
  }
  float value(int64_t position, int64_t i) const {
    return values[static_cast<size_t>(position * KvCache::value_stride + i)];
  }
};

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  const ShimMatrix k(c.in.at("k")), v(c.in.at("v"));
  const std::vector<Row> rows = rows_of(c.in.at("positions"), c.in.contains("slots") ? &c.in.at("slots") : nullptr);
  const int layer = static_cast<int>(c.numbers.at("layer"));
  KvCache kv;
  kv_poison(kv);
  const ShimRows placed(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    View key = k.view(), value = v.view();
    key.data = key.row(static_cast<int64_t>(i));
    value.data = value.row(static_cast<int64_t>(i));
    kv_append(ctx, 1, placed.data() + i, key, value, kv, layer);
  }
  ShimTensor keys = shim_f32(c.in.at("k").shape), values = shim_f32(c.in.at("v").shape);
  for (int head = 0; head < config::num_kv_heads; ++head) {
    std::map<int, Head> slots;
    for (size_t row = 0; row < rows.size(); ++row) {
      const Head& read = slots.try_emplace(rows[row].slot, kv, layer, rows[row].slot, head).first->second;
      for (int64_t i = 0; i < config::head_dim; ++i) {
        const int64_t at = (static_cast<int64_t>(row) * config::num_kv_heads + head) * config::head_dim + i;
        keys.f[static_cast<size_t>(at)] = read.key(rows[row].position, i);
        values.f[static_cast<size_t>(at)] = read.value(rows[row].position, i);
      }
    }
  }
  c.out["keys"] = keys;
  c.out["values"] = values;
}
