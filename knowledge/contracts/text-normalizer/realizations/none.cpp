// SPDX-License-Identifier: MIT
// text.normalizer: no normalization; any CPU.
// applies: tokenizer.normalizer=none
#include "text_normalizer.h"

void check_normalizer(const Json& normalizer) {
  if (normalizer.kind != Json::Kind::null) throw EngineError("tokenizer.json: normalizer: expected null");
}

std::string normalize(std::string_view text) { return std::string(text); }
