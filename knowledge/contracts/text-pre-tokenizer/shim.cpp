// SPDX-License-Identifier: MIT
#include "text_pre_tokenizer.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const std::vector<size_t> ends = piece_ends(std::string(c.in.at("text").u.begin(), c.in.at("text").u.end()));
  c.out["ends"] = shim_i32({static_cast<int64_t>(ends.size())});
  for (size_t i = 0; i < ends.size(); ++i) c.out["ends"].i[i] = static_cast<int32_t>(ends[i]);
}
