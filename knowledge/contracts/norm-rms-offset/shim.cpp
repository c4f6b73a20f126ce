// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "norm_rms.h"
#include "runtime_threading.h"

namespace {

constexpr int64_t scratch_floats = int64_t{1} << 23;

}  // namespace

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(scratch_floats);
  workspace.poison();
  Context ctx{pool, workspace};
  const ShimMatrix x(c.in.at("x")), out(shim_f32(c.in.at("x").shape));
  const ShimVector gain(c.in.at("gain"));
  const int num_rows = static_cast<int>(c.in.at("x").shape[0]);
  const bool in_place = c.numbers.contains("in_place") && c.numbers.at("in_place") != 0;
  rms_norm(ctx, num_rows, in_place ? x.view() : out.view(), x.view(), gain.view());
  c.out["out"] = (in_place ? x : out).download();
}
