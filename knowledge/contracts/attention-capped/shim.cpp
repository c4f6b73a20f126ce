// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "attention_core.h"
#include "kv_cache.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

std::vector<Row> rows_of(const ShimTensor& positions) {
  std::vector<Row> rows;
  for (const int32_t position : positions.i) rows.push_back({0, 0, position});
  return rows;
}

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  const ShimMatrix q(c.in.at("q")), k(c.in.at("k")), v(c.in.at("v")), out(shim_f32(c.in.at("q").shape));
  const int layer = static_cast<int>(c.numbers.at("layer"));
  const std::vector<Row> rows = rows_of(c.in.at("positions"));
  std::vector<Row> context;
  for (int64_t position = 0; position < c.in.at("k").shape[0]; ++position) context.push_back({0, 0, static_cast<int32_t>(position)});
  const ShimRows filled(context), placed(rows);
  KvCache kv;
  kv_poison(kv);
  kv_append(ctx, static_cast<int>(context.size()), filled.data(), k.view(), v.view(), kv, layer);
  attention(ctx, static_cast<int>(rows.size()), placed.data(), out.view(), q.view(), kv, layer);
  c.out["out"] = out.download();
}
