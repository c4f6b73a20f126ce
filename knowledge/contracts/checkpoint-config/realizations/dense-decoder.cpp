// SPDX-License-Identifier: MIT
// checkpoint.config: compares a folder's config.json, key by key, with the one this engine was generated from.
// No tensor; any target; exact.
// applies: hardware.platform=cpu-x86_64|cuda
#include "checkpoint_config.h"
#include <charconv>
#include "format_json.h"

namespace {
bool is_listed(std::string_view keys, const std::string& key) { return keys.find(" " + key + " ") != keys.npos; }

std::string show(const Json& value) {
  if (value.kind == Json::Kind::null) return "null";
  if (value.kind == Json::Kind::boolean) return value.boolean ? "true" : "false";
  if (value.kind == Json::Kind::string) return json_quote(value.string);
  if (value.kind == Json::Kind::array) return "a list of " + std::to_string(value.items.size());
  if (value.kind == Json::Kind::object) return "an object";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value.number).ptr};
}

void compare_members(const Json& found, const Json& built, const std::string& prefix, std::string& problems);

// found: nullptr where the file lacks the key; built: nullptr where the engine was generated without it.
void compare(const std::string& path, const Json* found, const Json* built, std::string& problems) {
  if (found != nullptr && built != nullptr && found->kind == built->kind) {
    if (built->kind == Json::Kind::object) return compare_members(*found, *built, path + ".", problems);
    if (*found == *built) return;
    const bool same_length = !built->items.empty() && found->items.size() == built->items.size();
    for (size_t i = 0; same_length && i < built->items.size(); ++i)
      compare(path + "." + std::to_string(i), &found->items[i], &built->items[i], problems);
    if (same_length) return;
  }
  problems += (problems.empty() ? "" : "; ") + path + " is " + (found != nullptr ? show(*found) : "missing") +
              "; this engine was built " + (built != nullptr ? "for " + show(*built) : "without it");
}

void compare_members(const Json& found, const Json& built, const std::string& prefix, std::string& problems) {
  for (const auto& [key, value] : found.members) {
    const Json* expected = built.find(key);
    const bool is_absent = value.kind == Json::Kind::null && !is_listed(config::null_config_keys, key);
    if (expected == nullptr && (is_absent || is_listed(config::ignored_config_keys, key))) continue;
    compare(prefix + key, &value, expected, problems);
  }
  for (const auto& [key, expected] : built.members)
    if (found.find(key) == nullptr) compare(prefix + key, nullptr, &expected, problems);
}
}  // namespace

void check_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json found = parse_json_file(path), built = parse_json(config::model_config, "config.h");
  if (found.kind != Json::Kind::object) throw EngineError(path + ": not an object");
  std::string problems;
  compare_members(found, built, "", problems);
  if (!problems.empty()) throw EngineError(path + ": " + problems);
}
