// SPDX-License-Identifier: MIT
// text.generation: the loop around forward(): prefill in chunks of max_rows, sample, stream, stop; any target.
// applies: any
#include "text_generation.h"
#include "text_stop.h"

namespace {
// Feeds ids from `position` on; logits: of the last one.
void feed(Context& ctx, Model& model, std::span<const int32_t> ids, int32_t position,
          std::vector<float>& logits /*[vocab_size]*/) {
  std::vector<Row> rows;
  for (size_t i = 0; i < ids.size(); ++i) {
    rows.push_back({ids[i], 0, position + int32_t(i)});
    const bool is_last = i + 1 == ids.size();
    if (!is_last && rows.size() < size_t(config::max_rows)) continue;
    const int32_t last_row = int32_t(rows.size()) - 1;
    const std::span<const int32_t> logit_rows(&last_row, is_last ? 1 : 0);
    forward(ctx, model, rows, logit_rows, f32_view(logits.data(), config::vocab_size, Device::host), nullptr, nullptr);
    rows.clear();
  }
}
}  // namespace

GenerationResult generate(Context& ctx, Model& model, const Tokenizer& tokenizer, const GenerationRequest& request,
                          const TokenSink& sink) {
  check_sampling(request.sampling);
  const size_t count = request.prompt_ids.size(), limit = config::max_context;
  if (count == 0 || count > limit)
    throw EngineError("the prompt has " + std::to_string(count) + " tokens; expected 1 to " + std::to_string(limit));
  StopDetector stop(request.stops);
  GenerationResult result{{}, "", "length"};
  if (request.max_tokens <= 0) return result;
  TextStream stream(tokenizer, true);
  std::vector<float> logits(config::vocab_size);
  std::vector<int32_t> history = request.prompt_ids;
  feed(ctx, model, history, 0, logits);
  for (bool is_done = false; !is_done;) {
    const int32_t id = sample(logits, history, request.sampling, result.ids.size());
    history.push_back(id);
    result.ids.push_back(id);
    const bool is_eos = !request.ignore_eos && std::ranges::count(config::eos_token_ids, id) > 0;
    // The last token's own position needs no room: nothing follows it.
    const bool is_full = ssize(result.ids) == request.max_tokens || ssize(history) > config::max_context;
    std::string text = is_eos ? "" : stop.append(stream.append(id));
    if (!stop.stopped() && (is_eos || is_full)) text += stop.append(stream.finish());
    if (!stop.stopped() && (is_eos || is_full)) text += stop.finish();
    if (is_eos) result.finish_reason = "eos";
    if (stop.stopped()) result.finish_reason = "stop";
    is_done = is_eos || is_full || stop.stopped();
    result.text += text;
    sink(id, text);
    if (!is_done) feed(ctx, model, std::span(history).last(1), int32_t(history.size()) - 1, logits);
  }
  return result;
}
