// SPDX-License-Identifier: MIT
#include "shim.h"

#include "position_rope.h"
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
  ShimTensor& x = c.in.at("x");
  const std::vector<Row> rows = rows_of(c.in.at("positions"));
  const RopeTable table = load_rope(ctx);
  rope(ctx, static_cast<int>(rows.size()), rows.data(), view_of(x), static_cast<int>(c.numbers.at("heads")), table);
  c.out["out"] = x;
}
