// SPDX-License-Identifier: MIT
// harness.protocol, version 1: little-endian frames of a 16-byte header and a payload; ids u32 and logits f32 [rows,
// vocab_size]. Timing and comparing are the harness's job: nothing here measures or judges. Little-endian targets; exact.
// applies: hardware.platform=cpu-x86_64|cuda
#include "harness_protocol.h"
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <numeric>
#include "decoder_model.h"
#include "runtime_threading.h"

namespace {
constexpr size_t max_payload = size_t{1} << 30, row_bytes = size_t{config::vocab_size} * 4;
constexpr size_t state_bytes = size_t{config::hidden_size} * 4, stages = 2 * config::num_layers + 2;
constexpr uint32_t magic = 0x3148494d;
constexpr uint16_t version = 1, reply_bit = 0x8000, last_bit = 0x0100, failure = 0xffff, batch_decode = 12, quit = 13;

struct Header {
  uint32_t magic;
  uint16_t version, opcode;
  uint32_t sequence, payload_bytes;
};

// The payload of a request, read from the front.
struct Request {
  uint16_t opcode;
  std::string bytes;
  size_t at = 0;
  std::string_view take(size_t count) {
    if (count > bytes.size() - at) throw EngineError("the payload ends too early");
    at += count;
    return std::string_view(bytes).substr(at - count, count);
  }
  std::string_view rest() { return take(bytes.size() - at); }
  std::vector<int32_t> ids(size_t count) {
    const std::string_view raw = take(count * 4);
    std::vector<int32_t> values(count);
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(values.data()));
    return values;
  }
  uint32_t u32() { return static_cast<uint32_t>(ids(1)[0]); }
};

std::string u32_bytes(size_t value) { return {reinterpret_cast<const char*>(&value), 4}; }

void check_range(const char* what, size_t value, size_t first, size_t last) {
  const std::string range = std::to_string(first) + ".." + std::to_string(last);
  if (value < first || value > last) throw EngineError(std::to_string(value) + " " + what + "; expected " + range);
}

template <typename Range, typename Show>
std::string json_list(const Range& range, Show show) {
  std::string out = "[";
  for (const auto& item : range) out += (out.size() > 1 ? "," : "") + show(item);
  return out + "]";
}
std::string json_number(int64_t value) { return std::to_string(value); }

// One sequence from position 0.
std::vector<Row> place(std::span<const int32_t> ids, size_t slot) {
  check_range("tokens", ids.size(), 1, config::max_context);
  std::vector<Row> rows;
  for (const int32_t id : ids) rows.push_back({id, static_cast<int32_t>(slot), static_cast<int32_t>(rows.size())});
  return rows;
}

size_t argmax(const std::string& logits /*f32 [rows, vocab_size]*/, size_t row) {
  const float* const first = reinterpret_cast<const float*>(logits.data() + row * row_bytes);
  return static_cast<size_t>(std::max_element(first, first + config::vocab_size) - first);
}

struct Session {
  Context& ctx;
  FILE* out;
  uint32_t sequence = 0;
  std::shared_ptr<Model> loaded = nullptr;
  std::string folder = "";
  std::shared_ptr<const Tokenizer> read_tokenizer = nullptr;
  std::array<size_t, config::max_batch> lengths = {};  // tokens in each slot

  void send(int opcode, const std::string& payload) {
    const Header header{magic, version, static_cast<uint16_t>(opcode), sequence, static_cast<uint32_t>(payload.size())};
    std::fwrite(&header, sizeof header, 1, out);
    std::fwrite(payload.data(), 1, payload.size(), out);
    if (std::fflush(out) != 0) throw std::runtime_error("the harness is gone");
  }
  Model& model() {
    if (loaded == nullptr) throw EngineError("no model is loaded");
    return *loaded;
  }
  const Tokenizer& tokenizer() {
    if (read_tokenizer == nullptr) read_tokenizer = load_tokenizer(folder);
    return *read_tokenizer;
  }
  // Forward calls of at most max_rows rows; gives the bytes of the last `wanted` rows' logits.
  std::string run(std::span<const Row> rows, size_t wanted, TraceSink sink = nullptr, void* user = nullptr) {
    std::string logits(wanted * row_bytes, '\0');
    float* to = reinterpret_cast<float*>(logits.data());
    for (size_t left = rows.size(), count; left > 0; left -= count) {
      count = std::min<size_t>(left, config::max_rows);
      std::vector<int32_t> logit_rows;
      for (size_t i = left > wanted ? left - wanted : 0; i < count; ++i) logit_rows.push_back(static_cast<int32_t>(i));
      const std::span<const Row> part = rows.subspan(rows.size() - left, count);
      forward(ctx, model(), part, logit_rows, f32_view(to, config::vocab_size, Device::host), sink, user);
      to += logit_rows.size() * config::vocab_size;
      for (const Row& row : part) lengths[static_cast<size_t>(row.slot)] = static_cast<size_t>(row.position) + 1;
    }
    return logits;
  }
  std::string do_hello(Request&) {
    bool has_text = loaded != nullptr;
    try {
      if (has_text) encode(tokenizer(), "", false, false);
    } catch (const EngineError&) {
      has_text = false;
    }
    const auto field = [](const char* name, int value) { return "," + json_quote(name) + ":" + std::to_string(value); };
    return "{\"protocol\":1,\"name\":" + json_quote(config::engine_name) + field("threads", ctx.pool.threads()) +
           field("max_context", config::max_context) + field("max_batch", config::max_batch) +
           field("vocab_size", config::vocab_size) + field("hidden_size", config::hidden_size) +
           field("num_layers", config::num_layers) + ",\"tokenizer\":" + (has_text ? "true}" : "false}");
  }
  std::string do_load(Request& request) {
    loaded.reset();  // before the next one: two may not fit
    read_tokenizer.reset();
    lengths = {};
    folder = request.rest();
    loaded = load_model(ctx, folder);
    int64_t bytes = 0;
    const std::string tensors = json_list(model_ledger(*loaded), [&](const auto& entry) {
      const auto& [name, tensor] = entry;
      bytes += std::reduce(tensor.shape.begin(), tensor.shape.end(), element_bytes(tensor.dtype), std::multiplies<>());
      return "{\"name\":" + json_quote(name) + ",\"dtype\":" + json_quote(dtype_name(tensor.dtype)) +
             ",\"shape\":" + json_list(tensor.shape, json_number) + ",\"reads\":" + std::to_string(tensor.reads) + "}";
    });
    return "{\"tensors\":" + tensors + ",\"weight_bytes\":" + std::to_string(bytes) +
           ",\"kv_bytes\":" + json_number(model_kv_bytes(*loaded)) + "}";
  }
  std::string do_logits(Request& request) {
    const std::vector<int32_t> chunks = request.ids(request.u32());
    const std::vector<Row> rows = place(request.ids(request.u32()), 0);
    check_range("rows of logits", rows.size(), 1, max_payload / row_bytes);
    std::string reply;
    size_t begin = 0;
    for (const int32_t chunk : chunks) {
      const size_t count = static_cast<uint32_t>(chunk);
      check_range("ids in a chunk", count, 0, rows.size() - begin);
      reply += run(std::span(rows).subspan(begin, count), count);
      begin += count;
    }
    check_range("ids in all chunks", begin, rows.size(), rows.size());
    return reply;
  }
  std::string do_trace(Request& request) {
    const std::vector<Row> rows = place(request.ids(request.u32()), 0);
    check_range("rows of a trace", rows.size(), 1, max_payload / std::max(stages * state_bytes, row_bytes));
    std::vector<std::string> states(stages);
    const TraceSink sink = [](void* user, int stage, int num_rows, View state) {
      std::string& bytes = (*static_cast<std::vector<std::string>*>(user))[static_cast<size_t>(stage)];
      for (int i = 0; i < num_rows; ++i) bytes.append(reinterpret_cast<const char*>(state.row(i)), state_bytes);
    };
    run(rows, rows.size(), sink, &states);
    return std::accumulate(states.begin(), states.end(), std::string());
  }
  std::string do_batch(Request& request) {
    const std::vector<int32_t> counts = request.ids(request.u32());
    check_range("sequences", counts.size(), 1, config::max_batch);
    check_range("rows of logits", request.bytes.size() / 4 - 1 - counts.size(), 1, max_payload / row_bytes);
    std::vector<std::vector<Row>> steps(config::max_context);
    for (size_t slot = 0; slot < counts.size(); ++slot)
      for (const Row& row : place(request.ids(static_cast<uint32_t>(counts[slot])), slot))
        steps[static_cast<size_t>(row.position)].push_back(row);
    std::vector<std::string> replies(counts.size());
    for (const std::vector<Row>& rows : steps) {
      const std::string logits = run(rows, rows.size());
      for (size_t i = 0; i < rows.size(); ++i)
        replies[static_cast<size_t>(rows[i].slot)].append(logits, i * row_bytes, row_bytes);
    }
    return std::accumulate(replies.begin(), replies.end(), std::string());
  }
  std::string do_prefill(Request& request) {
    const size_t slot = request.u32();
    check_range("is the slot", slot, 0, config::max_batch - 1);
    const std::string logits = run(place(request.ids(request.u32()), slot), 1);
    return u32_bytes(argmax(logits, 0)) + logits;
  }
  // One slot, or the slots from 0 on side by side; each feeds its own argmax on.
  std::string do_decode(Request& request) {
    const bool is_batch = request.opcode == batch_decode;
    const size_t first = is_batch ? 0 : request.u32();
    const std::vector<int32_t> tokens = request.ids(is_batch ? request.u32() : 1);
    const size_t steps = request.u32();
    check_range("slots", first + tokens.size(), 1, config::max_batch);
    std::vector<Row> rows;
    for (const int32_t token : tokens) {
      const size_t slot = first + rows.size();
      check_range("tokens", lengths[slot] + steps, 0, config::max_context);
      rows.push_back({token, static_cast<int32_t>(slot), static_cast<int32_t>(lengths[slot])});
    }
    std::string logits(rows.size() * row_bytes, '\0');
    for (size_t step = 0; step < steps; ++step) {
      logits = run(rows, rows.size());
      std::string payload = u32_bytes(step);
      for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].token = static_cast<int32_t>(argmax(logits, i));
        ++rows[i].position;
        payload += u32_bytes(static_cast<size_t>(rows[i].token));
      }
      send(request.opcode | reply_bit, payload);
    }
    return u32_bytes(steps) + logits;
  }
  std::string do_poison(Request&) {
    lengths = {};
    poison_state(ctx, model());
    return "";
  }
  std::string do_quit(Request&) { return ""; }

  std::string do_encode(Request& request) {
    const int flags = request.take(1)[0];
    const std::vector<int32_t> ids = encode(tokenizer(), request.rest(), (flags & 1) != 0, (flags & 2) != 0);
    return {reinterpret_cast<const char*>(ids.data()), ids.size() * 4};
  }
  std::string do_decode_text(Request& request) {
    TextStream stream(tokenizer(), (request.take(1)[0] & 1) != 0);
    std::string reply;
    for (size_t left = request.bytes.size() / 4; left > 0; --left) {
      std::string chunk = stream.append(request.ids(1)[0]);
      if (left == 1) chunk += stream.finish();
      reply += u32_bytes(chunk.size()) + chunk;
    }
    return reply;
  }
  std::string do_generate(Request& request) {
    GenerationRequest job;
    for (const auto& [key, value] : parse_json(request.rest(), "generate request").members) {
      if (key == "prompt") {
        job.prompt_ids = encode(tokenizer(), value.string, true, true);
      } else if (!set_parameter(job, key, value)) {
        throw EngineError("unknown or impossible " + json_quote(key));
      }
    }
    const TokenSink sink = [&](int32_t id, std::string_view text) {
      send(request.opcode | reply_bit, u32_bytes(static_cast<size_t>(id)).append(text));
    };
    const GenerationResult result = generate(ctx, model(), tokenizer(), job, sink);
    lengths[0] = 0;
    return "{\"finish_reason\":" + json_quote(result.finish_reason) + ",\"text\":" + json_quote(result.text) +
           ",\"ids\":" + json_list(result.ids, json_number) + "}";
  }
  void answer(Request& request) {
    using S = Session;
    using Handler = std::string (S::*)(Request&);
    static constexpr Handler handlers[] = {
        &S::do_hello, &S::do_load, &S::do_logits, &S::do_trace, &S::do_batch, &S::do_prefill, &S::do_decode,
        &S::do_poison, &S::do_encode, &S::do_decode_text, &S::do_generate, &S::do_decode, &S::do_quit};
    check_range("is the opcode", request.opcode, 1, std::size(handlers));
    const Handler handler = handlers[request.opcode - 1];
    const std::string payload = (this->*handler)(request);
    check_range("payload bytes", request.bytes.size(), request.at, request.at);
    const bool has_steps = handler == &Session::do_decode || handler == &Session::do_generate;
    send(request.opcode | reply_bit | (has_steps ? last_bit : 0), payload);
  }
};
}  // namespace

bool set_parameter(GenerationRequest& request, std::string_view name, const Json& value) {
  Sampling& sampling = request.sampling;
  const std::pair<std::string_view, double*> fractions[] = {
      {"temperature", &sampling.temperature}, {"top_p", &sampling.top_p},
      {"min_p", &sampling.min_p}, {"repetition_penalty", &sampling.repetition_penalty}};
  for (const auto& [known, target] : fractions)
    if (name == known) return *target = value.number, value.kind == Json::Kind::number;
  if (name == "ignore_eos") return request.ignore_eos = value.boolean, value.kind == Json::Kind::boolean;
  if (name == "seed" && value.integer() >= 0) return sampling.seed = static_cast<uint64_t>(value.integer()), true;
  const auto is_count = [](const Json& json) { return json.integer() >= 0 && json.integer() <= 0x7fffffff; };
  if (name == "top_k" && is_count(value)) return sampling.top_k = static_cast<int32_t>(value.number), true;
  if (name == "max_tokens" && is_count(value)) return request.max_tokens = static_cast<int32_t>(value.number), true;
  for (const Json& item : value.items) {
    if (name == "stop") request.stops.push_back(item.string);
    if (name == "prompt_ids" && is_count(item)) request.prompt_ids.push_back(static_cast<int32_t>(item.number));
  }
  return (name == "stop" && std::ranges::find(request.stops, "") == request.stops.end()) ||
         (name == "prompt_ids" && request.prompt_ids.size() == value.items.size());
}

int serve_harness(Context& ctx, int in_fd, int out_fd) {
  std::signal(SIGPIPE, SIG_IGN);
  FILE *const in = fdopen(in_fd, "rb"), *const out = fdopen(out_fd, "wb");
  if (in == nullptr || out == nullptr) throw EngineError("the file descriptors of the harness are not open");
  Session session{ctx, out};
  Header header{};
  while (header.opcode != quit && std::fread(&header, sizeof header, 1, in) == 1) {
    session.sequence = header.sequence;
    if (header.magic != magic || header.version != version || header.payload_bytes > max_payload) {
      session.send(failure, "malformed frame: magic, version or length");
      return 1;
    }
    Request request{header.opcode, std::string(header.payload_bytes, '\0')};
    if (std::fread(request.bytes.data(), 1, request.bytes.size(), in) != request.bytes.size()) return 1;
    try {
      session.answer(request);
    } catch (const EngineError& error) {
      session.send(failure, error.what());
    } catch (const std::bad_alloc&) {
      session.send(failure, "out of memory");
    }
  }
  return 0;
}
