// SPDX-License-Identifier: MIT
// format.json: recursive descent over the bytes, strict RFC 8259; strings are checked UTF-8, lone surrogates become
// U+FFFD, duplicate keys are refused. No tensor; any target; numbers to the nearest f64.
// applies: hardware.platform=cpu-x86_64
#include "format_json.h"

#include <charconv>
#include <fstream>
#include <iterator>

namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xf00 >> (more + 1) & 0xff) | code >> 6 * more);
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

// Bytes of the valid UTF-8 sequence at the start of `text`, 0 where it isn't one.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const uint32_t lead = byte(0), next = byte(1);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f)) return 0;
  if ((lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return length;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Json document() {
    Json value = parse_value(0);
    skip_space();
    if (at_ != text_.size()) fail("text after the end");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw EngineError(source_ + ": invalid JSON at byte " + std::to_string(at_) + ": " + what);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // After an element: true at a comma, false at the closing bracket.
  bool more(char close) {
    skip_space();
    const char next = peek();
    if (next != ',' && next != close) fail(std::string("expected , or ") + close);
    ++at_;
    return next == ',';
  }

  Json parse_value(int depth) {
    if (depth > 64) fail("nested too deeply");
    skip_space();
    Json value;
    if (peek() == '{') {
      parse_object(value, depth);
    } else if (peek() == '[') {
      parse_array(value, depth);
    } else if (peek() == '"') {
      value.kind = Json::Kind::string;
      value.string = parse_string();
    } else if (take("true") || take("false")) {
      value.kind = Json::Kind::boolean;
      value.boolean = text_[at_ - 2] == 'u';
    } else if (!take("null")) {
      value.kind = Json::Kind::number;
      value.number = parse_number();
    }
    return value;
  }

  void parse_object(Json& value, int depth) {
    value.kind = Json::Kind::object;
    ++at_;
    skip_space();
    if (take("}")) return;
    do {
      skip_space();
      if (peek() != '"') fail("expected a key");
      std::string key = parse_string();
      skip_space();
      if (!take(":")) fail("expected :");
      value.members.emplace_back(std::move(key), parse_value(depth + 1));
    } while (more('}'));
    std::vector<std::string_view> keys;
    for (const auto& [key, member] : value.members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin != keys.end()) fail("duplicate key " + json_quote(*twin));
  }

  void parse_array(Json& value, int depth) {
    value.kind = Json::Kind::array;
    ++at_;
    skip_space();
    if (take("]")) return;
    do value.items.push_back(parse_value(depth + 1));
    while (more(']'));
  }

  double parse_number() {
    const size_t start = at_;
    const auto digits = [&] {
      const size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      if (at_ == first) fail("expected a value");
      return at_ - first;
    };
    take("-");
    const bool zero = peek() == '0';
    if (digits() > 1 && zero) fail("a number with leading zeros");
    if (take(".")) digits();
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      digits();
    }
    double number = 0;
    if (std::from_chars(text_.data() + start, text_.data() + at_, number).ec != std::errc()) fail("number out of range");
    return number;
  }

  uint32_t parse_hex() {
    uint32_t code = 0;
    const char* const begin = text_.data() + at_;
    const size_t left = text_.size() - at_;
    const auto [end, error] = std::from_chars(begin, begin + std::min<size_t>(4, left), code, 16);
    if (error != std::errc() || end != begin + 4) fail("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  void parse_escape(std::string& out) {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    const size_t name = names.find(peek());
    if (at_ >= text_.size()) fail("string without an end");
    if (name != names.npos) {
      ++at_;
      out += values[name];
      return;
    }
    if (!take("u")) fail("unknown escape");
    uint32_t code = parse_hex();
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
      const size_t back = at_;
      at_ += 2;
      const uint32_t low = parse_hex();
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      } else {
        at_ = back;
      }
    }
    append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  }

  std::string parse_string() {
    std::string out;
    for (++at_;;) {
      if (at_ >= text_.size()) fail("string without an end");
      if (take("\"")) return out;
      if (take("\\")) {
        parse_escape(out);
        continue;
      }
      if (static_cast<uint8_t>(peek()) < 0x20) fail("control character in a string");
      const size_t length = utf8_length(text_.substr(at_));
      if (length == 0) fail("invalid UTF-8");
      out.append(text_, at_, length);
      at_ += length;
    }
  }

  std::string_view text_;
  const std::string& source_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) throw EngineError("missing key " + json_quote(key));
  return *value;
}

int64_t Json::integer() const {
  if (kind != Kind::number || number != std::floor(number) || std::abs(number) > 9007199254740992.0)
    throw EngineError("expected a whole number");
  return static_cast<int64_t>(number);
}

Json parse_json(std::string_view text, const std::string& source) { return Parser(text, source).document(); }

Json parse_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw EngineError("cannot read " + path);
  return parse_json(text, path);
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    const char byte = text[at];
    constexpr std::string_view escapes = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
    if (const size_t escape = escapes.find(byte); escape != escapes.npos) {
      (out += '\\') += names[escape];
    } else if (static_cast<uint8_t>(byte) < 0x20) {
      constexpr const char* hex = "0123456789abcdef";
      ((out += "\\u00") += hex[byte >> 4]) += hex[byte & 15];
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out.append(text, at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return out + "\"";
}
