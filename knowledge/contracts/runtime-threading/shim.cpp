// SPDX-License-Identifier: MIT
#include "shim.h"

#include "runtime_memory.h"
#include "runtime_threading.h"

// total and counts: which indices the loop visited, over `rounds` jobs of one pool.
void run_case(ShimCase& c) {
  const ShimTensor& values = c.in.at("values");
  ThreadPool pool(static_cast<int>(c.numbers.at("threads")));
  Workspace workspace(16);
  Context ctx{pool, workspace};
  const int rounds = static_cast<int>(c.numbers.at("rounds"));
  std::vector<std::atomic<int32_t>> counts(values.i.size());
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < rounds; ++round) {
    parallel_for(ctx, static_cast<int64_t>(counts.size()), 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        counts[static_cast<size_t>(i)] += 1;
        sum += values.i[static_cast<size_t>(i)];
      }
    });
  }
  ShimTensor total = shim_i32({1}), visits = shim_i32(values.shape);
  total.i[0] = static_cast<int32_t>(rounds > 0 ? sum / rounds : 0);
  for (size_t i = 0; i < counts.size(); ++i) visits.i[i] = counts[i];
  c.out["total"] = total;
  c.out["counts"] = visits;
}
