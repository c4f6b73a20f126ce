// SPDX-License-Identifier: MIT
// text.pre-tokenizer: the pattern of Llama-3; any CPU; exact.
// applies: tokenizer.pre_tokenizer=llama3
// requires: text.utf8, text.unicode
#include "text_pre_tokenizer.h"
#include <span>
#include "text_unicode.h"
#include "text_utf8.h"

namespace {
constexpr std::string_view pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

bool is_other(char32_t point) { return !is_space(point) && !is_letter(point) && !is_number(point); }

// The first index from `at` on whose code point isn't in the class.
size_t skip(std::span<const char32_t> points, size_t at, bool (*is_member)(char32_t)) {
  while (at < points.size() && is_member(points[at])) ++at;
  return at;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d): the length with the apostrophe, or 0. U+017F folds to s.
size_t contraction_length(std::span<const char32_t> points) {
  const auto fold = [](char32_t p) { return p == 0x17F ? U's' : p >= U'A' && p <= U'Z' ? p - U'A' + U'a' : p; };
  for (const std::u32string_view ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"}) {
    const size_t length = std::min(ending.size(), points.size());
    if (std::ranges::equal(ending, points.first(length), {}, {}, fold)) return length;
  }
  return 0;
}

bool is_line_end(char32_t point) { return point == '\r' || point == '\n'; }

// The end of the pattern's match at `at`.
size_t match_piece(std::span<const char32_t> points, size_t at) {
  if (const size_t length = contraction_length(points.subspan(at)); length > 0) return at + length;
  const bool is_prefix = !is_line_end(points[at]) && !is_letter(points[at]) && !is_number(points[at]);
  const size_t start = is_prefix ? at + 1 : at;
  if (const size_t end = skip(points, start, is_letter); end > start) return end;
  if (is_number(points[at])) return std::min(skip(points, at, is_number), at + 3);
  const size_t other = points[at] == ' ' ? at + 1 : at;
  if (const size_t end = skip(points, other, is_other); end > other) return skip(points, end, is_line_end);
  // White space: up to the last line end of the run; else the last of the run stays with what follows, unless it is the
  // only one or the text ends.
  const size_t end = skip(points, at, is_space);
  for (size_t i = end; i > at; --i) {
    if (is_line_end(points[i - 1])) return i;
  }
  return end == points.size() || end == at + 1 ? end : end - 1;
}
}  // namespace

bool check_pre_tokenizer(const Json& pre_tokenizer) {
  const Json* parts = pre_tokenizer.find("pretokenizers");
  const Json* split = parts == nullptr || parts->items.empty() ? nullptr : parts->items[0].find("pattern");
  if (split == nullptr || split->at("Regex").string != pattern)
    throw EngineError("tokenizer.json: pre_tokenizer: expected the Llama-3 pattern, then ByteLevel");
  return false;
}

std::vector<size_t> piece_ends(std::string_view text) {
  std::vector<char32_t> points;
  std::vector<size_t> offsets, ends;  // offsets: behind each code point
  for (size_t at = 0; at < text.size(); offsets.push_back(at)) points.push_back(next_code_point(text, at));
  for (size_t at = 0; at < points.size(); ends.push_back(offsets[at - 1])) at = match_piece(points, at);
  return ends;
}
