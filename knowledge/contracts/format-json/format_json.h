// SPDX-License-Identifier: MIT
// format.json: strict JSON (RFC 8259) to a tree, members in file order, and strings back to JSON.
#pragma once
#include <string_view>
#include <vector>
#include "runtime_context.h"

struct Json {
  enum class Kind : uint8_t { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string string;                                 // UTF-8
  std::vector<Json> items;                            // of an array
  std::vector<std::pair<std::string, Json>> members;  // of an object; keys are unique

  bool operator==(const Json&) const = default;
  const Json* find(std::string_view key) const;  // nullptr where absent (or not an object); linear in the members
  const Json& at(std::string_view key) const;    // EngineError names the key where absent
  int64_t integer() const;                       // EngineError unless a whole number within +-2^53
};

// Errors name `source` and the byte offset. Refuses duplicate keys, trailing text and a depth over 64.
Json parse_json(std::string_view text, const std::string& source);
Json parse_json_file(const std::string& path);
// The text (UTF-8) as a JSON string with its quotes.
std::string json_quote(std::string_view text);
// Appends a code point as UTF-8.
void append_utf8(std::string& out, char32_t code_point);
