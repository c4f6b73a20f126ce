// SPDX-License-Identifier: MIT
// text.bpe: what every BPE tokenizer.json shares: vocabulary, merges, added tokens, and the tokens put around a text.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include "format_json.h"

struct Merge { int32_t rank, id; };
using AddedTokens = std::vector<std::pair<std::string, int32_t>>;  // content as it is looked for in the text, and id
struct Bpe {
  std::vector<std::string> tokens;               // by id, as written in the file; "" where the id has no token
  std::unordered_set<int32_t> special;           // ids
  std::unordered_map<std::string, int32_t> ids;  // of the vocabulary alone, without added tokens
  std::unordered_map<uint64_t, Merge> merges;    // key: left id << 32 | right id
  AddedTokens raw, normalized;                   // looked for before and after normalization
  std::vector<int32_t> before, after;            // ids of the template around sequence A
};
// A stretch of text: ordinary (id < 0) or one added token.
struct Section { std::string_view text; int32_t id; };

Bpe read_bpe(const Json& root /* all of tokenizer.json */);
// Cuts text at the leftmost-longest occurrences of the added tokens; special ones stay text unless parse_special.
std::vector<Section> split_added(const Bpe& bpe, const AddedTokens& added, std::string_view text, bool parse_special);
// Applies merges to `symbols`, lowest rank first and leftmost among equals, and appends the result to `ids`.
void append_merged(const Bpe& bpe, std::span<const int32_t> symbols, std::vector<int32_t>& ids);
