// SPDX-License-Identifier: MIT
// text.utf8: reading UTF-8 and cutting a byte stream into whole characters; any CPU; exact.
// applies: any
#include "text_utf8.h"

namespace {

struct Sequence {
  char32_t code_point;
  size_t length;
  bool is_cut;  // valid so far, but the text ends in it
};

Sequence read_sequence(std::string_view text, size_t at) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[at + index]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, false};
  if (lead < 0xC2 || lead > 0xF4) return {0xFFFD, 1, false};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // The second byte also rules out overlong forms, surrogates and what lies above U+10FFFF.
  char32_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  char32_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code_point = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size()) return {0xFFFD, i, true};
    if (byte(i) < low || byte(i) > high) return {0xFFFD, i, false};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length, false};
}

}  // namespace

char32_t next_code_point(std::string_view text, size_t& at) {
  const Sequence sequence = read_sequence(text, at);
  at += sequence.length;
  return sequence.code_point;
}

std::string take_valid_utf8(std::string& pending, bool end) {
  std::string valid;
  size_t at = 0;
  while (at < pending.size()) {
    const Sequence sequence = read_sequence(pending, at);
    if (sequence.is_cut && !end) break;
    valid += sequence.code_point == 0xFFFD ? "\uFFFD" : pending.substr(at, sequence.length);
    at += sequence.length;
  }
  pending.erase(0, at);
  return valid;
}
