// SPDX-License-Identifier: MIT
#include "shim.h"

#include "attention_core.h"
#include "kv_cache.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 24;

View view_of(ShimTensor& tensor) { return f32_view(tensor.f.data(), tensor.shape.back()); }

std::vector<Row> rows_of(const ShimTensor& positions) {
  std::vector<Row> rows;
  for (const int32_t position : positions.i) rows.push_back({0, 0, position});
  return rows;
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  Context ctx{pool, workspace};
  ShimTensor &q = c.in.at("q"), &k = c.in.at("k"), &v = c.in.at("v");
  const int layer = static_cast<int>(c.numbers.at("layer"));
  const std::vector<Row> rows = rows_of(c.in.at("positions"));
  std::vector<Row> context;
  for (int64_t position = 0; position < k.shape[0]; ++position) context.push_back({0, 0, static_cast<int32_t>(position)});
  KvCache kv;
  kv_poison(kv);
  kv_append(ctx, static_cast<int>(context.size()), context.data(), view_of(k), view_of(v), kv, layer);
  ShimTensor out = shim_f32(q.shape);
  attention(ctx, static_cast<int>(rows.size()), rows.data(), view_of(out), view_of(q), kv, layer);
  c.out["out"] = out;
}
