// SPDX-License-Identifier: MIT
#include "shim.h"

#include "kv_cache.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 24;

View view_of(ShimTensor& tensor) { return f32_view(tensor.f.data(), tensor.shape.back()); }

// slots: null = all in slot 0.
std::vector<Row> rows_of(const ShimTensor& positions, const ShimTensor* slots = nullptr) {
  std::vector<Row> rows;
  for (size_t i = 0; i < positions.i.size(); ++i)
    rows.push_back({0, slots == nullptr ? 0 : slots->i[i], positions.i[i]});
  return rows;
}

// One head's element of the cache, by the layout that kv_cache.h promises.
float key_at(const KvCache& kv, int layer, const Row& row, int head, int64_t i) {
  const int64_t block = row.position / lanes, lane = row.position % lanes;
  return kv_keys(kv, layer, row.slot, head)[(block * config::head_dim + i) * lanes + lane];
}
float value_at(const KvCache& kv, int layer, const Row& row, int head, int64_t i) {
  return kv_values(kv, layer, row.slot, head)[row.position * KvCache::value_stride + i];
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  Context ctx{pool, workspace};
  ShimTensor &k = c.in.at("k"), &v = c.in.at("v");
  const std::vector<Row> rows = rows_of(c.in.at("positions"), c.in.contains("slots") ? &c.in.at("slots") : nullptr);
  const int layer = static_cast<int>(c.numbers.at("layer"));
  KvCache kv;
  kv_poison(kv);
  for (size_t i = 0; i < rows.size(); ++i) {
    View key = view_of(k), value = view_of(v);
    key.data = key.row(static_cast<int64_t>(i));
    value.data = value.row(static_cast<int64_t>(i));
    kv_append(ctx, 1, &rows[i], key, value, kv, layer);
  }
  ShimTensor keys = shim_f32(k.shape), values = shim_f32(v.shape);
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int head = 0; head < config::num_kv_heads; ++head) {
      for (int64_t i = 0; i < config::head_dim; ++i) {
        const int64_t at = (static_cast<int64_t>(row) * config::num_kv_heads + head) * config::head_dim + i;
        keys.f[static_cast<size_t>(at)] = key_at(kv, layer, rows[row], head, i);
        values.f[static_cast<size_t>(at)] = value_at(kv, layer, rows[row], head, i);
      }
    }
  }
  c.out["keys"] = keys;
  c.out["values"] = values;
}
