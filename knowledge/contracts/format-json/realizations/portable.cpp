// SPDX-License-Identifier: MIT
// format.json: recursive descent over the bytes, RFC 8259; string bytes are kept as they are, lone surrogate escapes
// become U+FFFD, duplicate keys are refused. No tensor; any target; numbers to the nearest f64.
// applies: hardware.platform=cpu-x86_64|cuda
#include "format_json.h"
#include <charconv>
#include <fstream>
#include <iterator>

namespace {
constexpr std::string_view escape_names = "\"\\/bfnrt", escape_values = "\"\\/\b\f\n\r\t";

struct Parser {
  std::string_view text;
  const std::string& source;
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw EngineError(source + ": invalid JSON at byte " + std::to_string(at) + ": " + what);
  }
  // A token behind any white space.
  bool take(std::string_view token) {
    at = std::min(text.find_first_not_of(" \n\r\t", at), text.size());
    const bool found = text.substr(at, token.size()) == token;
    if (found) at += token.size();
    return found;
  }
  Json value(int depth) {
    if (depth > 64) fail("nested too deeply");
    Json json;
    if (take("{")) {
      json.kind = Json::Kind::object;
      for (bool more = !take("}"); more; more = take(",")) {
        if (!take("\"")) fail("expected a key");
        std::string key = string();
        if (!take(":")) fail("expected :");
        json.members.emplace_back(std::move(key), value(depth + 1));
      }
      if (!json.members.empty() && !take("}")) fail("expected , or }");
      refuse_twins(json);
    } else if (take("[")) {
      json.kind = Json::Kind::array;
      for (bool more = !take("]"); more; more = take(",")) json.items.push_back(value(depth + 1));
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
    std::ranges::sort(keys);
    const auto twin = std::ranges::adjacent_find(keys);
    if (twin != keys.end()) fail("duplicate key " + json_quote(*twin));
  }
  // from_chars also knows inf, leading zeros and a bare dot.
  double number() {
    const auto is_digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    const size_t first = at + text.substr(at).starts_with('-');
    if (!is_digit(first) || (text[first] == '0' && is_digit(first + 1))) fail("expected a value");
    double result = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), result);
    const size_t dot = at + static_cast<size_t>(std::find(begin, end, '.') - begin);
    at += static_cast<size_t>(end - begin);
    if (error != std::errc() || (dot < at && !is_digit(dot + 1))) fail("number out of range or cut off");
    return result;
  }
  uint32_t hex() {
    uint32_t code = 0;
    const char* const begin = text.data() + at;
    at = std::min(at + 4, text.size());
    if (std::from_chars(begin, text.data() + at, code, 16).ptr != begin + 4) fail("expected four hexadecimal digits");
    return code;
  }
  uint32_t escaped_code() {
    const uint32_t code = hex();
    const size_t behind = at;
    if (code < 0xd800 || code >= 0xe000) return code;
    if (code < 0xdc00 && text.substr(at, 2) == "\\u") {
      at += 2;
      const uint32_t low = hex();
      if (low >= 0xdc00 && low < 0xe000) return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    at = behind;
    return 0xfffd;
  }
  // Behind the opening quote.
  std::string string() {
    const auto next = [&] { return at < text.size() ? text[at++] : '\0'; };
    std::string out;
    for (char byte = next(); byte != '"'; byte = next()) {
      if (static_cast<uint8_t>(byte) < 0x20) fail("control character in a string, or no end");
      if (byte != '\\') {
        out += byte;
      } else if (const char name = next(); name == 'u') {
        append_utf8(out, escaped_code());
      } else if (const size_t index = escape_names.find(name); index != escape_names.npos) {
        out += escape_values[index];
      } else {
        fail("unknown escape");
      }
    }
    return out;
  }
};
}  // namespace

void append_utf8(std::string& out, char32_t code) {
  const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  out += static_cast<char>(more == 0 ? code : (0xf00u >> (more + 1) & 0xff) | code >> 6 * more);
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

const Json* Json::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &std::pair<std::string, Json>::first);
  return found == members.end() ? nullptr : &found->second;
}

const Json& Json::at(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) throw EngineError("missing key " + json_quote(key));
  return *value;
}

int64_t Json::integer() const {
  const bool whole = kind == Kind::number && number == std::floor(number) && std::abs(number) <= 0x1p53;
  if (!whole) throw EngineError("expected a whole number");
  return static_cast<int64_t>(number);
}

Json parse_json(std::string_view text, const std::string& source) {
  Parser parser{text, source};
  Json json = parser.value(0);
  parser.take("");  // white space
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
    const size_t escape = byte == '/' ? escape_values.npos : escape_values.find(byte);
    if (escape != escape_values.npos) {
      (out += '\\') += escape_names[escape];
    } else if (static_cast<uint8_t>(byte) < 0x20) {
      ((out += "\\u00") += byte < 16 ? '0' : '1') += "0123456789abcdef"[byte & 15];
    } else {
      out += byte;
    }
  }
  return out + "\"";
}
