// SPDX-License-Identifier: MIT
#include "shim-memory.h"

#include "moe_router.h"
#include "runtime_threading.h"

void run_case(ShimCase& c) {
  ThreadPool pool(2);
  Workspace workspace(int64_t{1} << 16);
  workspace.poison();
  Context ctx{pool, workspace};
  const ShimMatrix scores(c.in.at("scores"));
  const int64_t num_rows = c.in.at("scores").shape[0];
  const std::vector<int64_t> shape = {num_rows, config::experts_per_token};
  ShimTensor experts = shim_i32(shape);
  const ShimMatrix weights(shim_f32(shape));
  route(ctx, static_cast<int>(num_rows), scores.view(), experts.i.data(), weights.view());
  c.out["experts"] = experts;
  c.out["weights"] = weights.download();
}
