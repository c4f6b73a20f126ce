// SPDX-License-Identifier: MIT
#include "shim.h"

#include <cstdio>

#include "format_json.h"

namespace {

void print(const Json& json, std::string& out) {
  char number[40];
  switch (json.kind) {
    case Json::Kind::null: out += "null"; return;
    case Json::Kind::boolean: out += json.boolean ? "true" : "false"; return;
    case Json::Kind::string: out += json_quote(json.string); return;
    case Json::Kind::number: {
      const bool whole = json.number == std::floor(json.number) && std::abs(json.number) <= 9007199254740992.0;
      std::snprintf(number, sizeof number, whole ? "%.0f" : "%.17g", json.number);
      out += number;
      return;
    }
    case Json::Kind::array:
      for (const Json& item : json.items) print(item, out += &item == json.items.data() ? "[" : ",");
      out += json.items.empty() ? "[]" : "]";
      return;
    case Json::Kind::object:
      for (const auto& member : json.members) {
        out += &member == json.members.data() ? "{" : ",";
        out += json_quote(member.first) + ":";
        print(member.second, out);
      }
      out += json.members.empty() ? "{}" : "}";
  }
}

}  // namespace

void run_case(ShimCase& c) {
  const ShimTensor& bytes = c.in.at("json");
  ShimTensor error = shim_i32({1});
  std::string text;
  try {
    print(parse_json({reinterpret_cast<const char*>(bytes.u.data()), bytes.u.size()}, "case"), text);
    error.i[0] = 0;
  } catch (const EngineError&) {
    text.clear();
    error.i[0] = 1;
  }
  c.out["text"] = shim_u8({text.begin(), text.end()});
  c.out["error"] = error;
}
