// SPDX-License-Identifier: MIT
// text.pre-tokenizer: cuts normalized text into the pieces within which byte pairs may merge.
#pragma once
#include <string_view>
#include <vector>
#include "format_json.h"

// pre_tokenizer: that member of tokenizer.json; EngineError unless it is the pattern compiled in. True: a space goes
// before every text that doesn't begin with one (add_prefix_space).
bool check_pre_tokenizer(const Json& pre_tokenizer);
// text: valid UTF-8. Result: the end of each piece as a byte offset, ascending; the last is text.size(). Empty for "".
std::vector<size_t> piece_ends(std::string_view text);
