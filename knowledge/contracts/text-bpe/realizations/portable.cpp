// SPDX-License-Identifier: MIT
// text.bpe: vocabulary, merges, added tokens and template of tokenizer.json; any CPU; exact; n log n in the symbols.
// applies: any
#include "text_bpe.h"

#include <numeric>
#include <queue>

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw EngineError("tokenizer.json: " + what + " isn't implemented");
}

bool flag(const Json& parent, std::string_view key) {
  const Json* value = parent.find(key);
  return value != nullptr && value->boolean;
}

uint64_t merge_key(int32_t left, int32_t right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

void add_token(Bpe& bpe, const std::string& content, int64_t id) {
  if (id < 0 || id > 1 << 24) throw EngineError("tokenizer.json: token id " + std::to_string(id) + " is out of range");
  if (bpe.tokens.size() <= size_t(id)) {
    bpe.tokens.resize(id + 1);
    bpe.is_special.resize(id + 1);
  }
  bpe.tokens[id] = content;
}

int32_t id_of(const Bpe& bpe, const std::string& token, const std::string& where) {
  const auto found = bpe.ids.find(token);
  if (found == bpe.ids.end()) throw EngineError("tokenizer.json: " + where + ": no token \"" + token + "\"");
  return found->second;
}

void read_vocabulary(Bpe& bpe, const Json& model) {
  if (model.at("type").string != "BPE") refuse("model.type: " + model.at("type").string);
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json* value = model.find(key);
    if (value == nullptr || value->kind == Json::Kind::null) continue;
    if (value->kind != Json::Kind::string || !value->string.empty()) refuse(std::string("model.") + key);
  }
  for (const auto& [token, id] : model.at("vocab").members) {
    add_token(bpe, token, id.integer());
    bpe.ids[token] = int32_t(id.integer());
  }
  int32_t rank = 0;
  for (const Json& merge : model.at("merges").items) {
    const bool is_pair = merge.items.size() == 2;  // else "left right"; without a space the look-up fails
    const size_t space = std::min(merge.string.find(' '), merge.string.size());
    const std::string left = is_pair ? merge.items[0].string : merge.string.substr(0, space);
    const std::string right = is_pair ? merge.items[1].string : merge.string.substr(space).erase(0, 1);
    const uint64_t key = merge_key(id_of(bpe, left, "model.merges"), id_of(bpe, right, "model.merges"));
    bpe.merges[key] = {rank++, id_of(bpe, left + right, "model.merges")};
  }
}

void read_added(Bpe& bpe, const Json& root) {
  for (const Json& token : root.at("added_tokens").items) {
    const std::string& content = token.at("content").string;
    for (const char* key : {"single_word", "lstrip", "rstrip"}) {
      if (flag(token, key)) refuse("added_tokens: " + std::string(key) + " of \"" + content + "\"");
    }
    if (content.empty()) refuse("added_tokens: an empty token");
    const int32_t id = int32_t(token.at("id").integer());
    add_token(bpe, content, id);
    bpe.is_special[id] = flag(token, "special");
    (flag(token, "normalized") ? bpe.normalized : bpe.raw).push_back({content, id, flag(token, "special")});
  }
}

// "single" of a TemplateProcessing: ids of special tokens before and after sequence A.
void read_template(Bpe& bpe, const Json& processor) {
  bool is_behind = false;
  for (const Json& part : processor.at("single").items) {
    if (const Json* token = part.find("SpecialToken"); token != nullptr) {
      for (const Json& id : processor.at("special_tokens").at(token->at("id").string).at("ids").items) {
        (is_behind ? bpe.after : bpe.before).push_back(int32_t(id.integer()));
      }
    } else {
      is_behind = true;
    }
  }
}

void read_post_processor(Bpe& bpe, const Json& processor) {
  if (processor.kind == Json::Kind::null) return;
  const std::string& type = processor.at("type").string;
  if (type == "Sequence") {
    for (const Json& part : processor.at("processors").items) read_post_processor(bpe, part);
  } else if (type == "TemplateProcessing") {
    read_template(bpe, processor);
  } else if (type != "ByteLevel") {  // which only trims offsets
    refuse("post_processor: " + type);
  }
}

// A pair that may merge: symbols at `position` and behind it, as they were when it was found.
struct Candidate {
  Merge merge;
  int32_t position, left, right;
  bool operator>(const Candidate& other) const {
    return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : position > other.position;
  }
};

}  // namespace

Bpe read_bpe(const Json& root) {
  Bpe bpe;
  read_vocabulary(bpe, root.at("model"));
  read_added(bpe, root);
  read_post_processor(bpe, root.at("post_processor"));
  return bpe;
}

std::vector<Section> split_added(const std::vector<AddedToken>& added, std::string_view text, bool parse_special) {
  std::vector<Section> sections;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* longest = nullptr;
    for (const AddedToken& token : added) {
      const bool is_longer = longest == nullptr || token.content.size() > longest->content.size();
      if (is_longer && text.substr(at).starts_with(token.content)) longest = &token;
    }
    const size_t end = at + (longest == nullptr ? 1 : longest->content.size());
    if (longest != nullptr && (parse_special || !longest->is_special)) {
      if (start < at) sections.push_back({text.substr(start, at - start), -1});
      sections.push_back({text.substr(at, end - at), longest->id});
      start = end;
    }
    at = end;
  }
  if (start < text.size()) sections.push_back({text.substr(start), -1});
  return sections;
}

void append_merged(const Bpe& bpe, std::span<const int32_t> symbols, std::vector<int32_t>& ids) {
  const int32_t count = int32_t(symbols.size());
  std::vector<int32_t> symbol(symbols.begin(), symbols.end()), next(count), previous(count);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](int32_t left) {
    if (left < 0 || next[left] >= count) return;
    const int32_t right = next[left];
    const auto found = bpe.merges.find(merge_key(symbol[left], symbol[right]));
    if (found != bpe.merges.end()) queue.push({found->second, left, symbol[left], symbol[right]});
  };
  std::iota(next.begin(), next.end(), 1);
  std::iota(previous.begin(), previous.end(), -1);
  for (int32_t i = 0; i < count; ++i) consider(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const int32_t left = best.position, right = next[left];
    // Stale where either symbol has merged since; a symbol that merged into its left neighbour is -1.
    if (symbol[left] != best.left || right >= count || symbol[right] != best.right) continue;
    symbol[left] = best.merge.id;
    symbol[right] = -1;
    next[left] = next[right];
    if (next[left] < count) previous[next[left]] = left;
    consider(previous[left]);
    consider(left);
  }
  for (int32_t i = 0; i < count; i = next[i]) ids.push_back(symbol[i]);
}
