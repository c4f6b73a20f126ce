// SPDX-License-Identifier: MIT
// text.utf8: reading UTF-8, and cutting a byte stream into whole characters.
#pragma once
#include <string>
#include <string_view>

// The code point at text[at], at < text.size(); moves `at` behind it. U+FFFD for each maximal subpart of an invalid
// sequence (Unicode 3.9, table 3-8). Sets *is_cut where the text ends in a sequence that is valid so far.
char32_t next_code_point(std::string_view text, size_t& at, bool* is_cut = nullptr);
// Removes from `pending` all that is decided and returns it as valid UTF-8 (invalid parts as U+FFFD). A last sequence
// that later bytes may complete stays in `pending`, unless `end`.
std::string take_valid_utf8(std::string& pending, bool end);
