// SPDX-License-Identifier: MIT
#include "shim.h"

#include "norm_rms.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 24;

View view_of(ShimTensor& tensor) { return f32_view(tensor.f.data(), tensor.shape.back()); }

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  Context ctx{pool, workspace};
  ShimTensor& x = c.in.at("x");
  ShimTensor out = shim_f32(x.shape);
  const bool in_place = c.numbers.contains("in_place") && c.numbers.at("in_place") != 0;
  rms_norm(ctx, static_cast<int>(x.shape[0]), view_of(in_place ? x : out), view_of(x), view_of(c.in.at("gain")));
  c.out["out"] = in_place ? x : out;
}
