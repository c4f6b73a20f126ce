// SPDX-License-Identifier: MIT
#include "shim.h"

#include "linear_dense.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 24;

View view_of(ShimTensor& tensor) { return f32_view(tensor.f.data(), tensor.shape.back()); }

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  Context ctx{pool, workspace};
  std::vector<Tensor> tensors;
  for (const char* name : {"weight", "weight_a", "weight_b"})
    if (c.in.contains(name)) tensors.push_back({name, DType::f32, c.in.at(name).shape, c.in.at(name).f.data()});
  std::vector<const Tensor*> stacked;
  for (const Tensor& tensor : tensors) stacked.push_back(&tensor);
  const Linear weight = load_linear(ctx, stacked);
  if (c.op == "linear_row") {
    const ShimTensor& ids = c.in.at("ids");
    ShimTensor out = shim_f32({static_cast<int64_t>(ids.i.size()), weight.in});
    for (size_t i = 0; i < ids.i.size(); ++i)
      linear_row(weight, ids.i[i], out.f.data() + i * static_cast<size_t>(weight.in));
    c.out["out"] = out;
    return;
  }
  ShimTensor& x = c.in.at("x");
  const int num_rows = static_cast<int>(x.shape[0]);
  ShimTensor out = c.op == "linear_add" ? c.in.at("out") : shim_f32({num_rows, weight.out});
  (c.op == "linear_add" ? linear_add : linear)(ctx, num_rows, view_of(out), view_of(x), weight);
  c.out["out"] = out;
}
