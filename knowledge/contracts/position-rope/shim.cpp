// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "position_rope.h"
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
  const ShimMatrix x(c.in.at("x"));
  const std::vector<Row> rows = rows_of(c.in.at("positions"));
  const ShimRows placed(rows);
  const RopeTable table = load_rope(ctx);
  rope(ctx, static_cast<int>(rows.size()), placed.data(), x.view(), static_cast<int>(c.numbers.at("heads")), table);
  c.out["out"] = x.download();
}
