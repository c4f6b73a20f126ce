// SPDX-License-Identifier: MIT
#include "text_unicode.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const int32_t first = static_cast<int32_t>(c.numbers.at("first"));
  ShimTensor classes = shim_i32({static_cast<int64_t>(c.numbers.at("count"))});
  for (size_t i = 0; i < classes.i.size(); ++i) {
    const char32_t point = static_cast<char32_t>(first + static_cast<int32_t>(i));
    classes.i[i] = (is_letter(point) ? 1 : 0) | (is_number(point) ? 2 : 0) | (is_space(point) ? 4 : 0);
  }
  c.out["classes"] = classes;
}
