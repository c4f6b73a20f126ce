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

namespace {

constexpr const char* usage =
    "usage: engine MODEL_DIR (--prompt TEXT | --ids 1,2,3) [--max-tokens N] [--temperature T] [--top-k K] [--top-p P]\n"
    "              [--min-p P] [--repetition-penalty R] [--seed S] [--stop TEXT]... [--ignore-eos] [--logits FILE]\n"
    "       engine --harness    (frames on file descriptors 3 and 4)\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string folder, prompt, logits_file;
  bool has_prompt = false;
  GenerationRequest request;
};

template <typename T>
T parse_number(const std::string& name, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(name + " " + std::string(text) + ": not a number in range");
  return value;
}

void parse_option(Arguments& arguments, const std::string& name, const std::string& value) {
  if (name == "--prompt") {
    arguments.prompt = value;
    arguments.has_prompt = true;
  } else if (name == "--stop") {
    arguments.request.stops.push_back(value);
  } else if (name == "--logits") {
    arguments.logits_file = value;
  } else if (name == "--ids") {
    for (size_t at = 0; at <= value.size(); at = std::min(value.find(',', at), value.size()) + 1)
      arguments.request.prompt_ids.push_back(parse_number<int32_t>(name, value.substr(at, value.find(',', at) - at)));
  } else {
    std::string parameter = name.substr(2);
    std::replace(parameter.begin(), parameter.end(), '-', '_');
    GenerationRequest trial;
    if (!set_parameter(trial, parameter, 1)) throw UsageError("unknown option " + name);
    if (!set_parameter(arguments.request, parameter, parse_number<double>(name, value)))
      throw UsageError(name + " " + value + ": not in range");
  }
}

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--ignore-eos") {
      arguments.request.ignore_eos = true;
    } else if (words[i].starts_with("--")) {
      if (i + 1 == words.size()) throw UsageError(words[i] + " is unknown or needs a value");
      parse_option(arguments, words[i], words[i + 1]);
      ++i;
    } else if (arguments.folder.empty()) {
      arguments.folder = words[i];
    } else {
      throw UsageError("unexpected argument " + words[i]);
    }
  }
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

void run(Context& ctx, Arguments arguments) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(arguments.folder);
  GenerationRequest& request = arguments.request;
  if (arguments.has_prompt) request.prompt_ids = encode(*tokenizer, arguments.prompt, true, true);
  Model model = load_model(ctx, arguments.folder);
  if (!arguments.logits_file.empty()) write_logits(ctx, model, request.prompt_ids, arguments.logits_file);
  generate(ctx, model, *tokenizer, request, [](int32_t, std::string_view text) { std::cout << text << std::flush; });
  std::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::find(words.begin(), words.end(), "--help") != words.end()) return std::cout << usage, 0;
  try {
    const bool harness = words.size() == 1 && words[0] == "--harness";
    const Arguments arguments = harness ? Arguments{} : parse_arguments(words);
    ThreadPool pool(config::num_threads);
    Workspace workspace(workspace_floats());
    Context ctx{pool, workspace};
    if (harness) return serve_harness(ctx, 3, 4);
    run(ctx, arguments);
    return 0;
  } catch (const UsageError& error) {
    std::cerr << error.what() << "\n" << usage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
