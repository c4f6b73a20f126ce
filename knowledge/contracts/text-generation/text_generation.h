// SPDX-License-Identifier: MIT
// text.generation: prompt ids in, token after token out, until EOS, a stop string, max_tokens or a full context.
#pragma once
#include <functional>
#include "decoder_model.h"
#include "sampling_token.h"
#include "text_tokenizer.h"

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;  // 1 .. max_context, each below vocab_size
  int32_t max_tokens = 128;
  Sampling sampling;
  std::vector<std::string> stops;
  bool ignore_eos = false;
};
struct GenerationResult {
  std::vector<int32_t> ids;        // without the prompt; with the EOS that ended it
  std::string text;                // without special tokens, cut before the stop string
  std::string_view finish_reason;  // "eos" | "stop" | "length"
};
// Called once per generated token; text: what may be shown now, whole UTF-8 characters, often empty.
using TokenSink = std::function<void(int32_t id, std::string_view text)>;

// Runs in slot 0 from position 0; what the slot held before is gone. Throws EngineError for a bad request.
GenerationResult generate(Context& ctx, Model& model, const Tokenizer& tokenizer, const GenerationRequest& request,
                          const TokenSink& sink);
