// SPDX-License-Identifier: MIT
// text.pre-tokenizer: each digit alone, then the GPT-2 pattern (Digits + ByteLevel, SmolLM2); any CPU; exact.
// applies: tokenizer.pre_tokenizer=smollm2
// requires: text.utf8, text.unicode
#include "text_pre_tokenizer.h"

#include <span>

#include "text_unicode.h"
#include "text_utf8.h"

namespace {

bool is_other(char32_t point) { return !is_space(point) && !is_letter(point) && !is_number(point); }

// The first index from `at` on whose code point isn't in the class.
template <typename Class>
size_t skip(std::span<const char32_t> points, size_t at, Class is_member) {
  while (at < points.size() && is_member(points[at])) ++at;
  return at;
}

// 's 't 're 've 'm 'll 'd: the length with the apostrophe, or 0.
size_t contraction_length(std::span<const char32_t> points, size_t at) {
  const auto is = [&](size_t i, char32_t letter) { return at + i < points.size() && points[at + i] == letter; };
  if (!is(0, '\'')) return 0;
  if ((is(1, 'r') && is(2, 'e')) || (is(1, 'v') && is(2, 'e')) || (is(1, 'l') && is(2, 'l'))) return 3;
  return is(1, 's') || is(1, 't') || is(1, 'm') || is(1, 'd') ? 2 : 0;
}

// The GPT-2 pattern; its \p{N} alternative only meets single digits.
// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ : the end of the match at `at`.
size_t match_piece(std::span<const char32_t> points, size_t at) {
  if (const size_t length = contraction_length(points, at); length > 0) return at + length;
  if (is_number(points[at])) return at + 1;
  const size_t start = points[at] == ' ' && at + 1 < points.size() ? at + 1 : at;
  if (is_letter(points[start])) return skip(points, start, is_letter);
  if (is_other(points[start])) return skip(points, start, is_other);
  // White space: the last of a run stays with what follows, unless it is the only one or the text ends.
  const size_t end = skip(points, at, is_space);
  return end == points.size() || end == at + 1 ? end : end - 1;
}

}  // namespace

bool check_pre_tokenizer(const Json& pre_tokenizer) {
  const Json* parts = pre_tokenizer.find("pretokenizers");
  const auto is = [&](size_t index, std::string_view type, std::string_view key, bool value) {
    const Json& part = parts->items[index];
    const Json* flag = part.find(key);
    return part.at("type").string == type && (flag == nullptr || flag->boolean == value);
  };
  if (parts == nullptr || parts->items.size() != 2 || !is(0, "Digits", "individual_digits", true) ||
      !is(1, "ByteLevel", "use_regex", true) || !is(1, "ByteLevel", "add_prefix_space", false)) {
    throw EngineError("tokenizer.json: pre_tokenizer: expected single Digits, then ByteLevel (SmolLM2)");
  }
  return false;
}

std::vector<size_t> piece_ends(std::string_view text) {
  std::vector<char32_t> decoded;
  std::vector<size_t> offsets, ends;  // offsets: behind each code point
  for (size_t at = 0; at < text.size(); offsets.push_back(at)) decoded.push_back(next_code_point(text, at));
  const std::span<const char32_t> points = decoded;
  for (size_t at = 0; at < points.size();) {
    // The pattern sees one stretch between digits at a time: the end of a stretch is an end of text to it.
    const size_t stretch = is_number(points[at]) ? at + 1 : skip(points, at, [](char32_t p) { return !is_number(p); });
    while (at < stretch) {
      at = match_piece(points.first(stretch), at);
      ends.push_back(offsets[at - 1]);
    }
  }
  return ends;
}
