// SPDX-License-Identifier: MIT
// format.json: recursive descent over the bytes, RFC 8259; string bytes are kept as they are, lone surrogate escapes become
// U+FFFD, duplicate keys are refused. No tensor; any target; numbers to the nearest f64.
// applies: hardware.platform=cpu-x86_64
#include "format_json.h"

#include <charconv>
#include <fstream>
#include <iterator>

namespace {

constexpr std::string_view escape_names = "\"\\/bfnrt", escape_values = "\"\\/\b\f\n\r\t", digits = "0123456789";

void append_utf8(std::string& out, uint32_t code) {
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  out += static_cast<char>(more == 0 ? code : (0xf00u >> (more + 1) & 0xff) | code >> 6 * more);
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

struct Parser {
  std::string_view text;
  const std::string& source;
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw EngineError(source + ": invalid JSON at byte " + std::to_string(at) + ": " + what);
  }
  void skip(std::string_view set) { at = std::min(text.find_first_not_of(set, at), text.size()); }
  bool take(std::string_view word) {
    const bool found = text.substr(at, word.size()) == word;
    if (found) at += word.size();
    return found;
  }
  bool take_token(std::string_view word) {
    skip(" \n\r\t");
    return take(word);
  }

  Json value(int depth) {
    if (depth > 64) fail("nested too deeply");
    Json json;
    if (take_token("{")) {
      json.kind = Json::Kind::object;
      for (bool more = !take_token("}"); more; more = take_token(",")) {
        if (!take_token("\"")) fail("expected a key");
        std::string key = string();
        if (!take_token(":")) fail("expected :");
        json.members.emplace_back(std::move(key), value(depth + 1));
      }
      if (!json.members.empty() && !take("}")) fail("expected , or }");
      refuse_twins(json);
    } else if (take("[")) {
      json.kind = Json::Kind::array;
      for (bool more = !take_token("]"); more; more = take_token(",")) json.items.push_back(value(depth + 1));
      if (!json.items.empty() && !take("]")) fail("expected , or ]");
    } else if (take("\"")) {
      json.kind = Json::Kind::string;
      json.string = string();
    } else if (take("true") || take("false")) {
      json.kind = Json::Kind::boolean;
      json.boolean = text[at - 2] == 'u';
    } else if (!take("null")) {
      json.kind = Json::Kind::number;
      json.number = number();
    }
    return json;
  }

  void refuse_twins(const Json& object) const {
    std::vector<std::string_view> keys;
    for (const auto& member : object.members) keys.push_back(member.first);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin != keys.end()) fail("duplicate key " + json_quote(*twin));
  }

  void skip_digits() {
    const size_t start = at;
    skip(digits);
    if (at == start) fail("expected a value");
  }
  double number() {
    const size_t start = at;
    take("-");
    if (!take("0")) skip_digits();
    if (take(".")) skip_digits();
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      skip_digits();
    }
    double result = 0;
    if (std::from_chars(text.data() + start, text.data() + at, result).ec != std::errc()) fail("number out of range");
    return result;
  }

  uint32_t hex() {
    uint32_t code = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + std::min<size_t>(4, text.size() - at), code, 16);
    if (error != std::errc() || end != begin + 4) fail("expected four hexadecimal digits");
    at += 4;
    return code;
  }
  uint32_t escaped_code() {
    const uint32_t code = hex();
    if (code < 0xd800 || code >= 0xe000) return code;
    const size_t behind = at;
    if (code < 0xdc00 && take("\\u"))
      if (const uint32_t low = hex(); low >= 0xdc00 && low < 0xe000) return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    at = behind;
    return 0xfffd;
  }
  // Behind the opening quote.
  std::string string() {
    for (std::string out; at < text.size();) {
      if (take("\"")) return out;
      if (!take("\\")) {
        if (static_cast<uint8_t>(text[at]) < 0x20) fail("control character in a string");
        out += text[at++];
      } else if (take("u")) {
        append_utf8(out, escaped_code());
      } else {
        const size_t name = at < text.size() ? escape_names.find(text[at++]) : std::string_view::npos;
        if (name == std::string_view::npos) fail("unknown escape");
        out += escape_values[name];
      }
    }
    fail("string without an end");
  }
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) throw EngineError("missing key " + json_quote(key));
  return *value;
}

int64_t Json::integer() const {
  if (kind != Kind::number || number != std::floor(number) || std::abs(number) > 0x1p53) throw EngineError("expected a whole number");
  return static_cast<int64_t>(number);
}

Json parse_json(std::string_view text, const std::string& source) {
  Parser parser{text, source};
  Json json = parser.value(0);
  parser.skip(" \n\r\t");
  if (parser.at != text.size()) parser.fail("text after the end");
  return json;
}

Json parse_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw EngineError("cannot read " + path);
  return parse_json(text, path);
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text) {
    const size_t escape = escape_values.find(byte);
    if (escape != std::string_view::npos && byte != '/') {
      (out += '\\') += escape_names[escape];
    } else if (static_cast<uint8_t>(byte) < 0x20) {
      ((out += "\\u00") += digits[static_cast<size_t>(byte >> 4)]) += "0123456789abcdef"[byte & 15];
    } else {
      out += byte;
    }
  }
  return out + "\"";
}
