// SPDX-License-Identifier: MIT
#include "text_normalizer.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const std::string text = normalize(std::string(c.in.at("text").u.begin(), c.in.at("text").u.end()));
  c.out["text"] = shim_u8({text.begin(), text.end()});
}
