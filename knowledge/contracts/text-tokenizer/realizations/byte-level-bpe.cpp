// SPDX-License-Identifier: MIT
// text.tokenizer: byte-level BPE (GPT-2, Qwen, Llama-3, SmolLM2); any CPU; exact.
// applies: tokenizer.model=byte_level_bpe
// requires: format.json, text.bpe, text.normalizer, text.pre-tokenizer, text.utf8
#include "text_tokenizer.h"
#include "text_bpe.h"
#include "text_normalizer.h"
#include "text_pre_tokenizer.h"
#include "text_utf8.h"

struct Tokenizer {
  Bpe bpe;
  std::unordered_map<std::string, int32_t> words;  // bytes of a vocabulary token to its id
  bool ignore_merges, add_prefix_space;
};

namespace {
// Vocabulary files write a printable byte as that character, the others (00-20, 7F-A0, AD) in order as U+0100 and on.
int32_t byte_of(char32_t character) {
  const bool is_printable = character >= 0x21 && character <= 0xFF && (character < 0x7F || character > 0xA0);
  if (is_printable && character != 0xAD) return int32_t(character);
  if (character >= 0x100 && character <= 0x120) return int32_t(character - 0x100);
  if (character >= 0x121 && character <= 0x142) return int32_t(character - 0x121 + 0x7F);
  return character == 0x143 ? 0xAD : -1;
}

// The bytes that a token's characters stand for; "" for a token with any other character.
std::string to_bytes(const std::string& token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const int32_t byte = byte_of(next_code_point(token, at));
    if (byte < 0) return "";
    bytes.push_back(char(byte));
  }
  return bytes;
}

void append_text(const Tokenizer& tokenizer, std::string text, std::vector<int32_t>& ids) {
  const auto find = [&](std::string_view bytes) {
    const auto found = tokenizer.words.find(std::string(bytes));
    return found == tokenizer.words.end() ? -1 : found->second;
  };
  if (tokenizer.add_prefix_space && !text.starts_with(' ')) text.insert(text.begin(), ' ');
  size_t start = 0;
  for (const size_t end : piece_ends(text)) {
    std::vector<int32_t> symbols;
    if (tokenizer.ignore_merges) symbols.push_back(find(std::string_view(text).substr(start, end - start)));
    if (symbols.empty() || symbols[0] < 0) {
      symbols.clear();
      for (size_t i = start; i < end; ++i) symbols.push_back(find(std::string_view(text).substr(i, 1)));
      std::erase(symbols, -1);  // a byte that the vocabulary lacks
    }
    append_merged(tokenizer.bpe, symbols, ids);
    start = end;
  }
}
}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& folder) {
  const Json root = parse_json_file(folder + "/tokenizer.json");
  const Json* ignore_merges = root.at("model").find("ignore_merges");
  auto tokenizer = std::make_shared<Tokenizer>();
  check_normalizer(root.at("normalizer"));
  tokenizer->add_prefix_space = check_pre_tokenizer(root.at("pre_tokenizer"));
  tokenizer->ignore_merges = ignore_merges != nullptr && ignore_merges->boolean;
  tokenizer->bpe = read_bpe(root);
  for (auto& [content, id] : tokenizer->bpe.normalized) content = normalize(content);
  for (const auto& [token, id] : tokenizer->bpe.ids) tokenizer->words[to_bytes(token)] = id;
  return tokenizer;
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special, bool parse_special) {
  const Bpe& bpe = tokenizer.bpe;
  std::string unchecked(text);
  const std::string valid = take_valid_utf8(unchecked, true);
  std::vector<int32_t> ids;
  if (add_special) ids = bpe.before;
  for (const Section& raw : split_added(bpe, bpe.raw, valid, parse_special)) {
    const std::string normalized = raw.id < 0 ? normalize(raw.text) : "";
    if (raw.id >= 0) ids.push_back(raw.id);
    for (const Section& section : split_added(bpe, bpe.normalized, normalized, parse_special)) {
      if (section.id >= 0) ids.push_back(section.id);
      else append_text(tokenizer, std::string(section.text), ids);
    }
  }
  if (add_special) ids.insert(ids.end(), bpe.after.begin(), bpe.after.end());
  return ids;
}

TextStream::TextStream(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special) {}

std::string TextStream::append(int32_t id) {
  const Bpe& bpe = tokenizer_.bpe;
  if (id < 0 || id >= ssize(bpe.tokens) || (skip_special_ && bpe.special.contains(id))) return "";
  const std::string bytes = to_bytes(bpe.tokens[id]);
  pending_ += bytes.empty() ? bpe.tokens[id] : bytes;
  return take_valid_utf8(pending_, false);
}

std::string TextStream::finish() { return take_valid_utf8(pending_, true); }
