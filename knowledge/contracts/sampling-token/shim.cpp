// SPDX-License-Identifier: MIT
#include "sampling_token.h"

#include "shim.h"

void run_case(ShimCase& c) {
  Sampling sampling;
  sampling.temperature = c.numbers.at("temperature");
  sampling.top_k = static_cast<int32_t>(c.numbers.at("top_k"));
  sampling.top_p = c.numbers.at("top_p");
  sampling.min_p = c.numbers.at("min_p");
  sampling.repetition_penalty = c.numbers.at("repetition_penalty");
  sampling.seed = static_cast<uint64_t>(c.numbers.at("seed"));
  check_sampling(sampling);
  ShimTensor ids = shim_i32({static_cast<int64_t>(c.numbers.at("steps"))});
  for (size_t step = 0; step < ids.i.size(); ++step) {
    ids.i[step] = sample(c.in.at("logits").f, c.in.at("history").i, sampling, step);
  }
  c.out["ids"] = ids;
}
