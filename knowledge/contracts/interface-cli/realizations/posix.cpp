// SPDX-License-Identifier: MIT
// interface.cli: arguments in, streamed text out; or the harness protocol on file descriptors 3 and 4. --logits writes f32
// [prompt tokens, vocab_size], little-endian. Any POSIX target; exact.
// applies: hardware.platform=cpu-x86_64, serving.interface=cli
#include "interface_cli.h"

#include <charconv>
#include <fstream>
#include <iostream>

#include "decoder_model.h"
#include "harness_protocol.h"
#include "runtime_threading.h"
#include "text_generation.h"

namespace {

constexpr const char* usage =
    "usage: engine MODEL_DIR (--prompt TEXT | --ids 1,2,3) [--max-tokens N] [--temperature T] [--top-k K] [--top-p P]\n"
    "              [--min-p P] [--repetition-penalty R] [--seed S] [--stop TEXT]... [--ignore-eos] [--logits FILE]\n"
    "       engine --harness    (frames on file descriptors 3 and 4)\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string folder, logits_file;
  std::string prompt;
  bool has_prompt = false, harness = false, help = false;
  GenerationRequest request;
};

template <typename T>
T parse_number(std::string_view name, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(std::string(name) + " " + std::string(text) + ": not a number in range");
  return value;
}

std::vector<int32_t> parse_ids(std::string_view text) {
  std::vector<int32_t> ids;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    ids.push_back(parse_number<int32_t>("--ids", text.substr(at, comma - at)));
    at = comma + 1;
  }
  return ids;
}

void parse_option(Arguments& arguments, std::string_view name, const std::string& value) {
  GenerationRequest& request = arguments.request;
  if (name == "--prompt") {
    arguments.prompt = value;
    arguments.has_prompt = true;
  } else if (name == "--ids") {
    request.prompt_ids = parse_ids(value);
  } else if (name == "--max-tokens") {
    request.max_tokens = parse_number<int32_t>(name, value);
  } else if (name == "--temperature") {
    request.sampling.temperature = parse_number<double>(name, value);
  } else if (name == "--top-k") {
    request.sampling.top_k = parse_number<int32_t>(name, value);
  } else if (name == "--top-p") {
    request.sampling.top_p = parse_number<double>(name, value);
  } else if (name == "--min-p") {
    request.sampling.min_p = parse_number<double>(name, value);
  } else if (name == "--repetition-penalty") {
    request.sampling.repetition_penalty = parse_number<double>(name, value);
  } else if (name == "--seed") {
    request.sampling.seed = parse_number<uint64_t>(name, value);
  } else if (name == "--stop") {
    request.stops.push_back(value);
  } else if (name == "--logits") {
    arguments.logits_file = value;
  } else {
    throw UsageError("unknown option " + std::string(name));
  }
}

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      arguments.help = true;
    } else if (word == "--harness") {
      arguments.harness = true;
    } else if (word == "--ignore-eos") {
      arguments.request.ignore_eos = true;
    } else if (word.starts_with("--")) {
      if (i + 1 == words.size()) throw UsageError(word + " needs a value");
      parse_option(arguments, word, words[++i]);
    } else if (arguments.folder.empty()) {
      arguments.folder = word;
    } else {
      throw UsageError("unexpected argument " + word);
    }
  }
  if (arguments.help || arguments.harness) return arguments;
  if (arguments.folder.empty()) throw UsageError("MODEL_DIR is missing");
  if (arguments.has_prompt == !arguments.request.prompt_ids.empty()) throw UsageError("give either --prompt or --ids");
  return arguments;
}

void write_logits(Context& ctx, Model& model, std::span<const int32_t> ids, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<float> logits(config::vocab_size);
  const int32_t first_row = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Row row{ids[i], 0, static_cast<int32_t>(i)};
    forward(ctx, model, {&row, 1}, {&first_row, 1}, f32_view(logits.data(), config::vocab_size), nullptr, nullptr);
    file.write(reinterpret_cast<const char*>(logits.data()), static_cast<std::streamsize>(logits.size() * 4));
  }
  if (!file.flush()) throw EngineError("cannot write " + path);
}

int run(const Arguments& arguments) {
  ThreadPool pool(config::num_threads);
  Workspace workspace(workspace_floats());
  Context ctx{pool, workspace};
  if (arguments.harness) return serve_harness(ctx, 3, 4);
  GenerationRequest request = arguments.request;
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(arguments.folder);
  if (arguments.has_prompt) request.prompt_ids = encode(*tokenizer, arguments.prompt, true, true);
  Model model = load_model(ctx, arguments.folder);
  if (!arguments.logits_file.empty()) write_logits(ctx, model, request.prompt_ids, arguments.logits_file);
  generate(ctx, model, *tokenizer, request, [](int32_t, std::string_view text) { std::cout << text << std::flush; });
  std::cout << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse_arguments({argv + 1, argv + argc});
    if (!arguments.help) return run(arguments);
    std::cout << usage;
    return 0;
  } catch (const UsageError& error) {
    std::cerr << error.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
