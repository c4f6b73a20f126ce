// SPDX-License-Identifier: MIT
// text.pre-tokenizer: the pattern of Llama-3; any CPU; exact.
// applies: tokenizer.pre_tokenizer=llama3
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

// (?i:'s|'t|'re|'ve|'m|'ll|'d): the length with the apostrophe, or 0. U+017F folds to s.
size_t contraction_length(std::span<const char32_t> points, size_t at) {
  const auto is = [&](size_t index, char32_t letter) {
    if (at + index >= points.size()) return false;
    const char32_t point = points[at + index];
    return point == letter || point == letter - 'a' + 'A' || (letter == 's' && point == 0x17F);
  };
  if (points[at] != '\'') return 0;
  if ((is(1, 'r') && is(2, 'e')) || (is(1, 'v') && is(2, 'e')) || (is(1, 'l') && is(2, 'l'))) return 3;
  return is(1, 's') || is(1, 't') || is(1, 'm') || is(1, 'd') ? 2 : 0;
}

bool is_line_end(char32_t point) { return point == '\r' || point == '\n'; }

// White space at `at`: \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last line end of the run; else the last of the run stays
// with what follows, unless it is the only one or the text ends.
size_t match_space(std::span<const char32_t> points, size_t at) {
  const size_t end = skip(points, at, is_space);
  for (size_t i = end; i > at; --i) {
    if (is_line_end(points[i - 1])) return i;
  }
  return end == points.size() || end == at + 1 ? end : end - 1;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// The end of the match at `at`.
size_t match_piece(std::span<const char32_t> points, size_t at) {
  if (const size_t length = contraction_length(points, at); length > 0) return at + length;
  const bool is_prefix = !is_line_end(points[at]) && !is_letter(points[at]) && !is_number(points[at]);
  const size_t start = is_prefix ? at + 1 : at;
  if (start < points.size() && is_letter(points[start])) return skip(points, start, is_letter);
  if (is_number(points[at])) return std::min(skip(points, at, is_number), at + 3);
  const size_t other = points[at] == ' ' ? at + 1 : at;
  if (other < points.size() && is_other(points[other])) {
    return skip(points, skip(points, other, is_other), is_line_end);
  }
  return match_space(points, at);
}

}  // namespace

bool check_pre_tokenizer(const Json& pre_tokenizer) {
  constexpr std::string_view pattern =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
      R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const Json* parts = pre_tokenizer.find("pretokenizers");
  if (parts == nullptr || parts->items.size() != 2 || parts->items[0].at("type").string != "Split" ||
      parts->items[0].at("pattern").at("Regex").string != pattern ||
      parts->items[0].at("behavior").string != "Isolated" || parts->items[0].at("invert").boolean ||
      parts->items[1].at("type").string != "ByteLevel" || parts->items[1].at("use_regex").boolean ||
      parts->items[1].at("add_prefix_space").boolean) {
    throw EngineError("tokenizer.json: pre_tokenizer: expected the Llama-3 pattern, then ByteLevel");
  }
  return false;
}

std::vector<size_t> piece_ends(std::string_view text) {
  std::vector<char32_t> points;
  std::vector<size_t> offsets, ends;  // offsets: behind each code point
  for (size_t at = 0; at < text.size(); offsets.push_back(at)) points.push_back(next_code_point(text, at));
  for (size_t at = 0; at < points.size(); ends.push_back(offsets[at - 1])) at = match_piece(points, at);
  return ends;
}
