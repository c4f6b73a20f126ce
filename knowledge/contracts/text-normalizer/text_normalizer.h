// SPDX-License-Identifier: MIT
// text.normalizer: the Unicode normalization that the tokenizer applies to text between added tokens.
#pragma once
#include <string>
#include <string_view>
#include "format_json.h"

// normalizer: that member of tokenizer.json. Throws EngineError unless it asks for the normalization compiled in.
void check_normalizer(const Json& normalizer);
// text: valid UTF-8; result: valid UTF-8.
std::string normalize(std::string_view text);
