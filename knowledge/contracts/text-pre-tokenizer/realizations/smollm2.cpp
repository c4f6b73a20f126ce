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
size_t skip(std::span<const char32_t> points, size_t at, bool (*is_member)(char32_t)) {
  while (at < points.size() && is_member(points[at])) ++at;
  return at;
}

// 's 't 're 've 'm 'll 'd: the length with the apostrophe, or 0.
size_t contraction_length(std::span<const char32_t> points) {
  for (const std::u32string_view ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
    const size_t length = std::min(ending.size(), points.size());
    if (std::ranges::equal(ending, points.first(length))) return length;
  }
  return 0;
}

// The GPT-2 pattern; its \p{N} alternative only meets single digits.
// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ : the end of the match at `at`.
size_t match_piece(std::span<const char32_t> points, size_t at) {
  if (const size_t length = contraction_length(points.subspan(at)); length > 0) return at + length;
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
  const Json* digits = parts == nullptr || parts->items.empty() ? nullptr : parts->items[0].find("individual_digits");
  if (digits == nullptr || !digits->boolean)
    throw EngineError("tokenizer.json: pre_tokenizer: expected single Digits, then ByteLevel (SmolLM2)");
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
