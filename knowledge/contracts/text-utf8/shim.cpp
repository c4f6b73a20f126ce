// SPDX-License-Identifier: MIT
#include "text_utf8.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const std::string text(c.in.at("text").u.begin(), c.in.at("text").u.end());
  if (c.op == "code_points") {
    std::vector<int32_t> points;
    for (size_t at = 0; at < text.size();) points.push_back(static_cast<int32_t>(next_code_point(text, at)));
    c.out["points"] = shim_i32({static_cast<int64_t>(points.size())});
    c.out["points"].i = points;
    return;
  }
  std::string pending, out;
  ShimTensor taken = shim_i32({static_cast<int64_t>(text.size())});
  for (size_t at = 0; at < text.size(); ++at) {
    pending.push_back(text[at]);
    out += take_valid_utf8(pending, false);
    taken.i[at] = static_cast<int32_t>(out.size());
  }
  out += take_valid_utf8(pending, true);
  c.out["taken"] = taken;
  c.out["text"] = shim_u8({out.begin(), out.end()});
}
