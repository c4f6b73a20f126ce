// SPDX-License-Identifier: MIT
// text.tokenizer: a checkpoint without a tokenizer: the text of an id is its number and a space.
// applies: tokenizer.model=none
// requires: runtime.context
#include "text_tokenizer.h"
#include "runtime_context.h"

struct Tokenizer {};

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string&) { return std::make_shared<const Tokenizer>(); }

std::vector<int32_t> encode(const Tokenizer&, std::string_view, bool, bool) {
  throw EngineError("this engine was built for a checkpoint without a tokenizer: give token ids");
}

TextStream::TextStream(const Tokenizer& tokenizer, bool) : tokenizer_(tokenizer) {}
std::string TextStream::append(int32_t id) { return std::to_string(id) + " "; }
std::string TextStream::finish() { return ""; }
