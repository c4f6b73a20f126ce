// SPDX-License-Identifier: MIT
// text.tokenizer: byte-level BPE (GPT-2, Qwen, Llama-3, SmolLM2); any CPU; exact.
// applies: tokenizer.model=byte_level_bpe
// requires: format.json, text.bpe, text.normalizer, text.pre-tokenizer, text.utf8
#include "text_tokenizer.h"

#include "format_json.h"
#include "text_bpe.h"
#include "text_normalizer.h"
#include "text_pre_tokenizer.h"
#include "text_utf8.h"

struct Tokenizer {
  Bpe bpe;
  std::vector<std::string> bytes;                  // by id: what the token stands for
  std::unordered_map<std::string, int32_t> words;  // bytes of a vocabulary token to its id
  std::array<int32_t, 256> byte_ids;               // -1: the vocabulary lacks that byte
  bool ignore_merges, add_prefix_space;
};

namespace {

// Vocabulary files write each byte as a printable character: itself, or the next free one from U+0100 on.
std::array<int32_t, 0x144> read_byte_alphabet() {
  std::array<int32_t, 0x144> byte_of;
  byte_of.fill(-1);
  int32_t next = 0x100;
  for (int32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    byte_of[is_printable ? byte : next++] = byte;
  }
  return byte_of;
}

// The bytes that a token's characters stand for; "" for a token with any other character.
std::string to_bytes(const std::string& token) {
  static const std::array<int32_t, 0x144> byte_of = read_byte_alphabet();
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const char32_t character = next_code_point(token, at);
    if (character >= byte_of.size() || byte_of[character] < 0) return "";
    bytes.push_back(char(byte_of[character]));
  }
  return bytes;
}

void index_bytes(Tokenizer& tokenizer) {
  for (const std::string& token : tokenizer.bpe.tokens) {
    const std::string bytes = to_bytes(token);
    tokenizer.bytes.push_back(bytes.empty() ? token : bytes);
  }
  tokenizer.byte_ids.fill(-1);
  for (const auto& [token, id] : tokenizer.bpe.ids) {
    const std::string bytes = to_bytes(token);
    if (!bytes.empty()) tokenizer.words[bytes] = id;
    if (bytes.size() == 1) tokenizer.byte_ids[uint8_t(bytes[0])] = id;
  }
}

void append_piece(const Tokenizer& tokenizer, std::string_view piece, std::vector<int32_t>& ids) {
  if (tokenizer.ignore_merges) {
    const auto found = tokenizer.words.find(std::string(piece));
    if (found != tokenizer.words.end()) return ids.push_back(found->second);
  }
  std::vector<int32_t> symbols;
  for (const char byte : piece) {
    if (const int32_t id = tokenizer.byte_ids[uint8_t(byte)]; id >= 0) symbols.push_back(id);
  }
  append_merged(tokenizer.bpe, symbols, ids);
}

void append_text(const Tokenizer& tokenizer, std::string text, std::vector<int32_t>& ids) {
  if (tokenizer.add_prefix_space && !text.starts_with(' ')) text.insert(text.begin(), ' ');
  size_t start = 0;
  for (const size_t end : piece_ends(text)) {
    append_piece(tokenizer, std::string_view(text).substr(start, end - start), ids);
    start = end;
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& folder) {
  const Json root = parse_json_file(folder + "/tokenizer.json");
  const Json& model = root.at("model");
  const auto flag = [&](std::string_view key) { return model.find(key) != nullptr && model.at(key).boolean; };
  auto tokenizer = std::make_shared<Tokenizer>();
  check_normalizer(root.at("normalizer"));
  tokenizer->add_prefix_space = check_pre_tokenizer(root.at("pre_tokenizer"));
  tokenizer->ignore_merges = flag("ignore_merges");
  if (flag("byte_fallback")) throw EngineError("tokenizer.json: model.byte_fallback: expected byte-level BPE");
  const Json* decoder = root.at("decoder").find("type");
  if (decoder == nullptr || decoder->string != "ByteLevel") {
    throw EngineError("tokenizer.json: decoder: this engine was built for ByteLevel");
  }
  tokenizer->bpe = read_bpe(root);
  for (AddedToken& token : tokenizer->bpe.normalized) token.content = normalize(token.content);
  index_bytes(*tokenizer);
  return tokenizer;
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special, bool parse_special) {
  const Bpe& bpe = tokenizer.bpe;
  std::string unchecked(text);
  const std::string valid = take_valid_utf8(unchecked, true);
  std::vector<int32_t> ids;
  if (add_special) ids = bpe.before;
  for (const Section& raw : split_added(bpe.raw, valid, parse_special)) {
    if (raw.id >= 0) {
      ids.push_back(raw.id);
      continue;
    }
    const std::string normalized = normalize(raw.text);
    for (const Section& section : split_added(bpe.normalized, normalized, parse_special)) {
      if (section.id >= 0) {
        ids.push_back(section.id);
      } else {
        append_text(tokenizer, std::string(section.text), ids);
      }
    }
  }
  if (add_special) ids.insert(ids.end(), bpe.after.begin(), bpe.after.end());
  return ids;
}

TextStream::TextStream(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special) {}

std::string TextStream::append(int32_t id) {
  const bool has_token = id >= 0 && size_t(id) < tokenizer_.bytes.size();
  if (!has_token || (skip_special_ && tokenizer_.bpe.is_special[id])) return "";
  pending_ += tokenizer_.bytes[id];
  return take_valid_utf8(pending_, false);
}

std::string TextStream::finish() { return take_valid_utf8(pending_, true); }
