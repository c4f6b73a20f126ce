// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "linear_dense.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  std::vector<Tensor> tensors;
  for (const char* name : {"weight", "weight_a", "weight_b"})
    if (c.in.contains(name)) tensors.push_back({name, DType::f32, c.in.at(name).shape, c.in.at(name).f.data()});
  std::vector<const Tensor*> stacked;
  for (const Tensor& tensor : tensors) stacked.push_back(&tensor);
  const Linear weight = load_linear(ctx, stacked);
  if (c.op == "linear_rows") {
    std::vector<Row> rows;
    for (const int32_t id : c.in.at("ids").i) rows.push_back({id, 0, 0});
    const ShimRows placed(rows);
    const ShimMatrix out(shim_f32({static_cast<int64_t>(rows.size()), weight.in}));
    linear_rows(ctx, static_cast<int>(rows.size()), placed.data(), out.view(), weight);
    c.out["out"] = out.download();
    return;
  }
  const ShimMatrix x(c.in.at("x"));
  const int num_rows = static_cast<int>(c.in.at("x").shape[0]);
  const ShimMatrix out(c.op == "linear_add" ? c.in.at("out") : shim_f32({num_rows, weight.out}));
  (c.op == "linear_add" ? linear_add : linear)(ctx, num_rows, out.view(), x.view(), weight);
  c.out["out"] = out.download();
}
