// SPDX-License-Identifier: MIT
// text.utf8: reading UTF-8 and cutting a byte stream into whole characters; any CPU; exact.
// applies: any
#include "text_utf8.h"

char32_t next_code_point(std::string_view text, size_t& at, bool* is_cut) {
  const char32_t lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  if (lead < 0xC2 || lead > 0xF4) return 0xFFFD;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  // The second byte also rules out overlong forms, surrogates and what lies above U+10FFFF.
  char32_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  char32_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code_point = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i, ++at, low = 0x80, high = 0xBF) {
    if (at == text.size() && is_cut != nullptr) *is_cut = true;
    const char32_t byte = at == text.size() ? 0 : static_cast<unsigned char>(text[at]);
    if (byte < low || byte > high) return 0xFFFD;
    code_point = code_point << 6 | (byte & 0x3F);
  }
  return code_point;
}

std::string take_valid_utf8(std::string& pending, bool end) {
  std::string valid;
  size_t decided = 0;
  for (size_t at = 0; at < pending.size(); decided = at) {
    bool is_cut = false;
    const char32_t code_point = next_code_point(pending, at, &is_cut);
    if (is_cut && !end) break;
    valid += code_point == 0xFFFD ? "\uFFFD" : pending.substr(decided, at - decided);
  }
  pending.erase(0, decided);
  return valid;
}
