// SPDX-License-Identifier: MIT
// interface.cli: arguments in, streamed text out; or the harness protocol on file descriptors 3 and 4. --logits writes
// f32 [prompt tokens, vocab_size], little-endian. Any POSIX target; exact.
// applies: hardware.platform=cpu-x86_64|cuda, serving.interface=cli
#include "interface_cli.h"
#include <fstream>
#include <iostream>
#include <optional>
#include "harness_protocol.h"
#include "runtime_threading.h"

namespace {
constexpr const char* usage =
    "usage: engine MODEL_DIR (--prompt TEXT | --ids 1,2,3) [--max-tokens N] [--temperature T] [--top-k K] [--top-p P]\n"
    "              [--min-p P] [--repetition-penalty R] [--seed S] [--stop TEXT]... [--ignore-eos] [--logits FILE]\n"
    "       engine --harness    (frames on file descriptors 3 and 4)\n";

struct Arguments {
  std::string folder, logits_file;
  std::optional<std::string> prompt;
  GenerationRequest request;
};

// The option's value as the harness protocol would give it.
void set_option(GenerationRequest& request, const std::string& option, const std::string& value) {
  std::string name = option == "--ids" ? "prompt_ids" : option.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  const bool is_list = name == "prompt_ids" || name == "stop";
  const std::string text = name == "stop" ? json_quote(value) : value;
  if (!set_parameter(request, name, parse_json(is_list ? "[" + text + "]" : text, option + " " + value)))
    throw EngineError(option + " " + value + ": unknown option or impossible value");
}

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--ignore-eos") {
      arguments.request.ignore_eos = true;
    } else if (!word.starts_with("--")) {
      if (!arguments.folder.empty()) throw EngineError("unexpected argument " + word);
      arguments.folder = word;
    } else if (++i == words.size()) {
      throw EngineError(word + " is unknown or needs a value");
    } else if (word == "--prompt") {
      arguments.prompt = words[i];
    } else if (word == "--logits") {
      arguments.logits_file = words[i];
    } else {
      set_option(arguments.request, word, words[i]);
    }
  }
  check_sampling(arguments.request.sampling);
  if (arguments.folder.empty()) throw EngineError("MODEL_DIR is missing");
  const bool has_ids = !arguments.request.prompt_ids.empty();
  if (arguments.prompt.has_value() == has_ids) throw EngineError("give either --prompt or --ids");
  return arguments;
}

void write_logits(Context& ctx, Model& model, std::span<const int32_t> ids, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  std::vector<float> logits(config::vocab_size);
  const int32_t first_row = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Row row{ids[i], 0, static_cast<int32_t>(i)};
    forward(ctx, model, {&row, 1}, {&first_row, 1}, f32_view(logits.data(), config::vocab_size, Device::host), nullptr, nullptr);
    file.write(reinterpret_cast<const char*>(logits.data()), static_cast<std::streamsize>(logits.size() * 4));
  }
  if (!file.flush()) throw EngineError("cannot write " + path);
}

void run(Context& ctx, const Arguments& arguments) {
  GenerationRequest request = arguments.request;
  std::shared_ptr<const Tokenizer> tokenizer;
  if (arguments.prompt) {
    tokenizer = load_tokenizer(arguments.folder);
    request.prompt_ids = encode(*tokenizer, *arguments.prompt, true, true);
  }
  const std::shared_ptr<Model> model = load_model(ctx, arguments.folder);
  if (!arguments.logits_file.empty()) write_logits(ctx, *model, request.prompt_ids, arguments.logits_file);
  if (request.max_tokens == 0) return;
  if (tokenizer == nullptr) tokenizer = load_tokenizer(arguments.folder);
  generate(ctx, *model, *tokenizer, request, [](int32_t, std::string_view text) { std::cout << text << std::flush; });
  std::cout << std::endl;
}
}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) return std::cout << usage, 0;
  bool is_usage = true;
  try {
    const bool is_harness = words == std::vector<std::string>{"--harness"};
    const Arguments arguments = is_harness ? Arguments{} : parse_arguments(words);
    is_usage = false;
    ThreadPool pool(config::num_threads);
    Workspace workspace(workspace_floats());
    Context ctx{pool, workspace};
    if (is_harness) return serve_harness(ctx, 3, 4);
    run(ctx, arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << (is_usage ? "" : "error: ") << error.what() << "\n" << (is_usage ? usage : "");
    return is_usage ? 2 : 1;
  }
}
