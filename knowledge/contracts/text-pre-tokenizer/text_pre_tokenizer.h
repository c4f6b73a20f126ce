// SPDX-License-Identifier: MIT
// text.pre-tokenizer: cuts normalized text into the pieces within which byte pairs may merge.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

// text: UTF-8. Result: the end of each piece as a byte offset, ascending; the last one is text.size(). Empty for "".
std::vector<size_t> piece_ends(std::string_view text);
