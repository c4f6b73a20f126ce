// Drives text.generation over a scripted model and a tokenizer of 32 tokens; the protocol is that of text-driver.cpp.
// Payload: i32 count, then prompt length, prompt ids, max_tokens, ignore_eos, and the script: the token that follows
// position 0, 1, 2 …; behind these the stop strings, one a line. Reply, split by \x1f: finish reason, ids, rows of each
// forward call with the number of logit rows, chunks joined by |, text; or ! and the error.
#include <cstdio>

#include "text_generation.h"
#include "text_utf8.h"

struct Tokenizer {};

namespace {

std::vector<int32_t> script;
std::string calls;

// 0..25 letters, 26 and 27 the two bytes of é, 28 and 29 the halves of STOP; 30 and 31 end the text.
std::string token_text(int32_t id) {
  if (id < 26) return std::string(1, static_cast<char>('a' + id));
  constexpr std::array<const char*, 6> others{"\xC3", "\xA9", "STO", "P", "<end>", "<eot>"};
  return others[static_cast<size_t>(id - 26)];
}

std::string join(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

std::string answer(const std::string& payload) {
  const auto at = [&](size_t index) {
    int32_t value;
    std::memcpy(&value, payload.data() + 4 * index, 4);
    return value;
  };
  const size_t count = static_cast<size_t>(at(0)), prompt = static_cast<size_t>(at(1));
  GenerationRequest request;
  for (size_t i = 0; i < prompt; ++i) request.prompt_ids.push_back(at(2 + i));
  request.max_tokens = at(2 + prompt);
  request.ignore_eos = at(3 + prompt) != 0;
  script.clear();
  calls.clear();
  for (size_t i = 4 + prompt; i <= count; ++i) script.push_back(at(i));
  std::string stops = payload.substr(4 * (count + 1));
  for (size_t end; (end = stops.find('\n')) != std::string::npos; stops.erase(0, end + 1)) {
    request.stops.push_back(stops.substr(0, end));
  }
  alignas(64) static char nothing[4096];  // the scripted model looks at neither context nor weights
  const Tokenizer tokenizer;
  std::string chunks;
  const auto sink = [&](int32_t, std::string_view text) { chunks += std::string(text) + "|"; };
  try {
    const GenerationResult result =
        generate(reinterpret_cast<Context&>(nothing), reinterpret_cast<Model&>(nothing), tokenizer, request, sink);
    return std::string(result.finish_reason) + '\x1f' + join(result.ids) + '\x1f' + calls + '\x1f' + chunks + '\x1f' + result.text;
  } catch (const EngineError& error) {
    return std::string("!") + error.what();
  }
}

}  // namespace

void forward(Context&, Model&, std::span<const Row> rows, std::span<const int32_t> logit_rows, View logits, TraceSink, void*) {
  calls += std::to_string(rows.size()) + ":" + std::to_string(logit_rows.size()) + "@" + std::to_string(rows[0].position) + " ";
  for (size_t i = 0; i < logit_rows.size(); ++i) {
    std::fill_n(logits.row(static_cast<int64_t>(i)), config::vocab_size, 0.0f);
    logits.row(static_cast<int64_t>(i))[script.at(static_cast<size_t>(rows[logit_rows[i]].position))] = 1.0f;
  }
}

TextStream::TextStream(const Tokenizer& tokenizer, bool skip_special) : tokenizer_(tokenizer), skip_special_(skip_special) {}
std::string TextStream::append(int32_t id) {
  pending_ += token_text(id);
  return take_valid_utf8(pending_, false);
}
std::string TextStream::finish() { return take_valid_utf8(pending_, true); }

int main() {
  uint32_t head[3];
  while (std::fread(head, 4, 3, stdin) == 3) {
    std::string payload(head[2], '\0');
    if (std::fread(payload.data(), 1, head[2], stdin) != head[2]) return 3;
    const std::string reply = answer(payload);
    const uint32_t bytes = static_cast<uint32_t>(reply.size());
    std::fwrite(&bytes, 4, 1, stdout);
    std::fwrite(reply.data(), 1, reply.size(), stdout);
  }
  return 0;
}
