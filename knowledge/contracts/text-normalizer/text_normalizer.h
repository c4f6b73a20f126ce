// SPDX-License-Identifier: MIT
// text.normalizer: the Unicode normalization that the tokenizer applies to text between added tokens.
#pragma once
#include <string>
#include <string_view>

// text: UTF-8; result: UTF-8.
std::string normalize(std::string_view text);
