// SPDX-License-Identifier: MIT
// text.tokenizer: SentencePiece BPE with byte fallback (Llama-2, TinyLlama, Mistral); any CPU; exact.
// applies: tokenizer.model=sentencepiece_bpe, tokenizer.normalizer=none, tokenizer.pre_tokenizer=none
// requires: format.json, text.bpe, text.utf8
#include "text_tokenizer.h"
#include "format_json.h"
#include "text_bpe.h"
#include "text_utf8.h"

// Where a space goes before a stretch of ordinary text.
enum class Prefix : uint8_t { never, first_unless_space, always_unless_space, always };

struct Tokenizer {
  Bpe bpe;
  std::array<int32_t, 256> byte_ids;
  std::vector<int32_t> byte_of;  // by id; -1 where the token isn't a byte
  Prefix prefix;
  bool strips_first_space;  // when decoding
};

namespace {
constexpr std::string_view space = "\u2581";  // stands for a space in the vocabulary

[[noreturn]] void refuse(const std::string& what) {
  throw EngineError("tokenizer.json: " + what + " isn't implemented for SentencePiece BPE");
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (size_t at = 0; at < text.size();) {
    const bool is_match = text.substr(at).starts_with(from);
    replaced += is_match ? to : text.substr(at, 1);
    at += is_match ? from.size() : 1;
  }
  return replaced;
}

// As written by transformers: a normalizer (Prepend, then Replace) or a Metaspace pre-tokenizer.
Prefix read_prefix(const Json& normalizer, const Json& pre_tokenizer) {
  Prefix prefix = Prefix::never;
  const bool is_replacing = normalizer.kind != Json::Kind::null;
  const Json* sequence = normalizer.find("normalizers");
  std::vector<Json> parts(is_replacing ? 1 : 0, normalizer);
  if (sequence != nullptr) parts = sequence->items;
  for (const Json& part : parts) {
    const std::string& type = part.at("type").string;
    if (type == "Prepend" && part.at("prepend").string == space && &part == &parts[0] && parts.size() == 2) {
      prefix = Prefix::always;
    } else if (type != "Replace" || part.at("pattern").at("String").string != " " ||
               part.at("content").string != space || &part != &parts.back()) {
      refuse("normalizer: " + type);
    }
  }
  if (pre_tokenizer.kind == Json::Kind::null) {
    if (!is_replacing) refuse("normalizer and pre_tokenizer: null");
    return prefix;
  }
  const std::string& type = pre_tokenizer.at("type").string;
  if (type != "Metaspace" || is_replacing) refuse("pre_tokenizer: " + type);
  if (pre_tokenizer.at("replacement").string != space) refuse("pre_tokenizer.replacement");
  if (pre_tokenizer.at("split").boolean) refuse("pre_tokenizer.split");
  const std::string& scheme = pre_tokenizer.at("prepend_scheme").string;
  if (scheme == "never") return Prefix::never;
  if (scheme == "first") return Prefix::first_unless_space;
  if (scheme != "always") refuse("pre_tokenizer.prepend_scheme: " + scheme);
  return Prefix::always_unless_space;
}

// Replace, ByteFallback, Fuse and, where a prefix is to be taken off again, Strip.
bool read_strip(const Json& decoder) {
  const Json& parts = decoder.at("decoders");
  constexpr std::array<std::string_view, 4> types{"Replace", "ByteFallback", "Fuse", "Strip"};
  if (parts.items.size() < 3 || parts.items.size() > 4) refuse("decoder");
  for (size_t i = 0; i < parts.items.size(); ++i) {
    const std::string& type = parts.items[i].at("type").string;
    if (type != types[i]) refuse("decoder: " + type);
  }
  if (parts.items.size() == 3) return false;
  const Json& strip = parts.items[3];
  if (strip.at("content").string != " " || strip.at("start").integer() != 1 || strip.at("stop").integer() != 0) {
    refuse("decoder: Strip");
  }
  return true;
}

void index_bytes(Tokenizer& tokenizer) {
  tokenizer.byte_of.resize(tokenizer.bpe.tokens.size(), -1);
  for (int32_t byte = 0; byte < 256; ++byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string name = std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">";
    const auto found = tokenizer.bpe.ids.find(name);
    if (found == tokenizer.bpe.ids.end()) refuse("model.vocab without " + name);
    tokenizer.byte_ids[byte] = found->second;
    tokenizer.byte_of[found->second] = byte;
  }
}

std::string normalize_section(const Tokenizer& tokenizer, std::string_view text) {
  std::string normalized = replace_all(text, " ", space);
  if (tokenizer.prefix == Prefix::always) normalized.insert(0, space);
  return normalized;
}

void append_text(const Tokenizer& tokenizer, std::string text, bool is_first, std::vector<int32_t>& ids) {
  const bool is_wanted = tokenizer.prefix == Prefix::always_unless_space ||
                         (tokenizer.prefix == Prefix::first_unless_space && is_first);
  if (is_wanted && !text.starts_with(space)) text.insert(0, space);
  std::vector<int32_t> symbols;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    next_code_point(text, at);
    const std::string character = text.substr(start, at - start);
    if (const auto found = tokenizer.bpe.ids.find(character); found != tokenizer.bpe.ids.end()) {
      symbols.push_back(found->second);
    } else {
      for (const char byte : character) symbols.push_back(tokenizer.byte_ids[uint8_t(byte)]);
    }
  }
  append_merged(tokenizer.bpe, symbols, ids);
}

// A run of byte tokens is text where it is valid UTF-8 as a whole; else every byte of it is a U+FFFD.
std::string take_byte_run(std::string& run) {
  std::string rest = run;
  std::string text = take_valid_utf8(rest, true);
  if (text != run) {
    text.clear();
    for (size_t i = 0; i < run.size(); ++i) text += "\uFFFD";
  }
  run.clear();
  return text;
}
}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& folder) {
  const Json root = parse_json_file(folder + "/tokenizer.json");
  const Json* ignore_merges = root.at("model").find("ignore_merges");
  if (ignore_merges != nullptr && ignore_merges->boolean) refuse("model.ignore_merges");
  if (!root.at("model").at("byte_fallback").boolean) refuse("model.byte_fallback: false");
  auto tokenizer = std::make_shared<Tokenizer>();
  tokenizer->prefix = read_prefix(root.at("normalizer"), root.at("pre_tokenizer"));
  tokenizer->strips_first_space = read_strip(root.at("decoder"));
  tokenizer->bpe = read_bpe(root);
  for (auto& [content, id] : tokenizer->bpe.normalized) content = normalize_section(*tokenizer, content);
  index_bytes(*tokenizer);
  return tokenizer;
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special, bool parse_special) {
  const Bpe& bpe = tokenizer.bpe;
  std::string unchecked(text);
  const std::string valid = take_valid_utf8(unchecked, true);
  std::vector<int32_t> ids;
  if (add_special) ids = bpe.before;
  for (const Section& raw : split_added(bpe, bpe.raw, valid, parse_special)) {
    const std::string normalized = raw.id < 0 ? normalize_section(tokenizer, raw.text) : "";
    if (raw.id >= 0) ids.push_back(raw.id);
    for (const Section& section : split_added(bpe, bpe.normalized, normalized, parse_special)) {
      if (section.id >= 0) {
        ids.push_back(section.id);
      } else {
        const bool is_first = raw.text.data() == valid.data() && section.text.data() == normalized.data();
        append_text(tokenizer, std::string(section.text), is_first, ids);
      }
    }
  }
  if (add_special) ids.insert(ids.end(), bpe.after.begin(), bpe.after.end());
  return ids;
}

TextStream::TextStream(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(tokenizer), skip_special_(skip_special), at_start_(tokenizer.strips_first_space) {}

std::string TextStream::append(int32_t id) {
  const bool has_token = id >= 0 && size_t(id) < tokenizer_.bpe.tokens.size() && !tokenizer_.bpe.tokens[id].empty();
  if (!has_token || (skip_special_ && tokenizer_.bpe.special.contains(id))) return "";
  if (tokenizer_.byte_of[id] >= 0) {
    pending_.push_back(char(tokenizer_.byte_of[id]));
    return "";
  }
  std::string text = take_byte_run(pending_) + replace_all(tokenizer_.bpe.tokens[id], space, " ");
  if (at_start_ && text.starts_with(' ')) text.erase(0, 1);
  at_start_ = false;
  return text;
}

std::string TextStream::finish() {
  std::string text = take_byte_run(pending_);
  if (at_start_ && text.starts_with(' ')) text.erase(0, 1);
  return text;
}
