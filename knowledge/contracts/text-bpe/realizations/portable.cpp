// SPDX-License-Identifier: MIT
// text.bpe: vocabulary, merges, added tokens and template of tokenizer.json; any CPU; exact; n log n in the symbols.
// applies: any
#include "text_bpe.h"
#include <numeric>
#include <queue>

namespace {
bool flag(const Json& token, std::string_view key) {
  const Json* value = token.find(key);
  return value != nullptr && value->boolean;
}

uint64_t merge_key(int32_t left, int32_t right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }

int32_t add_token(Bpe& bpe, const std::string& content, int64_t id) {
  if (id < 0 || id > 1 << 24) throw EngineError("tokenizer.json: token id " + std::to_string(id) + " is out of range");
  bpe.tokens.resize(std::max(bpe.tokens.size(), size_t(id) + 1));
  bpe.tokens[id] = content;
  return int32_t(id);
}

int32_t id_of(const Bpe& bpe, const std::string& token) {
  const auto found = bpe.ids.find(token);
  if (found == bpe.ids.end()) throw EngineError("tokenizer.json: model.merges: no token \"" + token + "\"");
  return found->second;
}

// Ids that "single" of a TemplateProcessing puts around sequence A. ByteLevel trims offsets: nothing to do here.
void read_post_processor(Bpe& bpe, const Json& processor) {
  if (const Json* processors = processor.find("processors"); processors != nullptr) {
    for (const Json& part : processors->items) read_post_processor(bpe, part);
  }
  const Json* single = processor.find("single");
  if (single == nullptr) return;
  std::vector<int32_t>* side = &bpe.before;
  for (const Json& part : single->items) {
    const Json* token = part.find("SpecialToken");
    if (token == nullptr) side = &bpe.after;
    else for (const Json& id : processor.at("special_tokens").at(token->at("id").string).at("ids").items)
      side->push_back(int32_t(id.integer()));
  }
}

// A pair that may merge into `id`: symbols at `position` and behind it, as they were when it was found.
struct Candidate {
  int32_t rank, position, left, right, id;
  auto operator<=>(const Candidate&) const = default;  // by rank, then position
};
}  // namespace

Bpe read_bpe(const Json& root) {
  Bpe bpe;
  const Json& model = root.at("model");
  const std::string& type = model.at("type").string;
  if (type != "BPE") throw EngineError("tokenizer.json: model.type: expected BPE, found " + type);
  for (const auto& [token, id] : model.at("vocab").members) bpe.ids[token] = add_token(bpe, token, id.integer());
  int32_t rank = 0;
  for (const Json& merge : model.at("merges").items) {
    const bool is_pair = merge.items.size() == 2;  // else "left right"; without a space the look-up fails
    const size_t space = std::min(merge.string.find(' '), merge.string.size());
    const std::string left = is_pair ? merge.items[0].string : merge.string.substr(0, space);
    const std::string right = is_pair ? merge.items[1].string : merge.string.substr(space).erase(0, 1);
    bpe.merges[merge_key(id_of(bpe, left), id_of(bpe, right))] = {rank++, id_of(bpe, left + right)};
  }
  for (const Json& token : root.at("added_tokens").items) {
    const int32_t id = add_token(bpe, token.at("content").string, token.at("id").integer());
    if (flag(token, "special")) bpe.special.insert(id);
    (flag(token, "normalized") ? bpe.normalized : bpe.raw).push_back({bpe.tokens[id], id});
  }
  read_post_processor(bpe, root.at("post_processor"));
  return bpe;
}

std::vector<Section> split_added(const Bpe& bpe, const AddedTokens& added, std::string_view text, bool parse_special) {
  std::vector<Section> sections;
  size_t start = 0;
  for (size_t at = 0, length = 0; at < text.size(); at += std::max<size_t>(length, 1)) {
    int32_t longest = -1;
    length = 0;
    for (const auto& [content, id] : added) {
      if (content.size() <= length || !text.substr(at).starts_with(content)) continue;
      longest = id;
      length = content.size();
    }
    if (longest < 0 || (bpe.special.contains(longest) && !parse_special)) continue;
    if (start < at) sections.push_back({text.substr(start, at - start), -1});
    sections.push_back({text.substr(at, length), longest});
    start = at + length;
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
    const int32_t right = symbol[next[left]];
    const auto found = bpe.merges.find(merge_key(symbol[left], right));
    if (found == bpe.merges.end()) return;
    queue.push({found->second.rank, left, symbol[left], right, found->second.id});
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
    symbol[left] = best.id;
    symbol[right] = -1;
    next[left] = next[right];
    if (next[left] < count) previous[next[left]] = left;
    consider(previous[left]);
    consider(left);
  }
  for (int32_t i = 0; i < count; i = next[i]) ids.push_back(symbol[i]);
}
