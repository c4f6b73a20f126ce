// SPDX-License-Identifier: MIT
// text.tokenizer: text to token ids and back, as the checkpoint's tokenizer.json defines it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct Tokenizer;  // vocabulary, merges, added tokens: opaque, immutable, safe to share between threads

// Reads folder/tokenizer.json. Throws EngineError where that is missing or of another kind than this engine's.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& folder);
// text: UTF-8 (invalid parts count as U+FFFD). add_special: apply the file's post-processor (BOS, EOS). parse_special:
// recognise special tokens written out in the text. Added tokens that aren't special are always recognised.
std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special, bool parse_special);

// Incremental decoding: chunks of whole UTF-8 characters that join to the decoding of all ids. An id without a token
// (vocabulary padding, negative) adds nothing.
class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, bool skip_special);
  std::string append(int32_t id);  // the text that became certain
  std::string finish();            // what was held back, incomplete characters as U+FFFD

 private:
  const Tokenizer& tokenizer_;
  [[maybe_unused]] bool skip_special_ = false;
  [[maybe_unused]] bool at_start_ = false;  // a first space is still to be taken off
  std::string pending_;                     // bytes whose character isn't certain yet
};
