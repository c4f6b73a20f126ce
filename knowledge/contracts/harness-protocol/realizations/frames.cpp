// SPDX-License-Identifier: MIT
// harness.protocol, version 1: little-endian frames of a 16-byte header and a payload; ids u32 and logits f32 [rows,
// vocab_size]. Timing and comparing are the harness's job: nothing here measures or judges. Any little-endian target; exact.
// applies: hardware.platform=cpu-x86_64
#include "harness_protocol.h"

#include <unistd.h>

#include <csignal>

#include "decoder_model.h"
#include "format_json.h"
#include "runtime_threading.h"
#include "text_generation.h"

namespace {

constexpr uint32_t magic = 0x3148494d, max_payload = uint32_t{1} << 30;
constexpr uint16_t version = 1, reply_bit = 0x8000, last_bit = 0x0100, failure = 0xffff;
enum Operation : uint16_t { hello = 1, load_folder, logits, trace, batch, prefill, decode, poison, encode_text, decode_text, generate_text, batch_decode, quit };

struct Header {
  uint32_t magic;
  uint16_t version, opcode;
  uint32_t sequence, payload_bytes;
};
static_assert(sizeof(Header) == 16);

// False at the end of the input.
bool read_all(int fd, void* to, size_t bytes) {
  for (char* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t got = read(fd, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

void write_all(int fd, const void* from, size_t bytes) {
  for (const char* at = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t put = write(fd, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw std::runtime_error("the harness is gone");
    at += put;
    bytes -= static_cast<size_t>(put);
  }
}

// The request's payload, read from the front.
struct Request {
  uint16_t opcode;
  std::string bytes;
  size_t at = 0;

  std::string_view take(size_t count) {
    if (count > bytes.size() - at) throw EngineError("payload too short for opcode " + std::to_string(opcode));
    at += count;
    return std::string_view(bytes).substr(at - count, count);
  }
  std::string_view rest() { return take(bytes.size() - at); }
  uint32_t u32() {
    uint32_t value;
    std::memcpy(&value, take(4).data(), 4);
    return value;
  }
  std::vector<int32_t> ids(size_t count) {
    const std::string_view raw = take(count * 4);
    std::vector<int32_t> values(count);
    if (count > 0) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  void end() const {
    if (at != bytes.size()) throw EngineError("payload too long for opcode " + std::to_string(opcode));
  }
};

void append_u32(std::string& out, size_t value) {
  const uint32_t word = static_cast<uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&word), 4);
}
void append_floats(std::string& out, const std::vector<float>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

uint32_t argmax(const float* values) {
  return static_cast<uint32_t>(std::max_element(values, values + config::vocab_size) - values);
}

class Session {
 public:
  Session(Context& ctx, int out_fd) : ctx_(ctx), out_(out_fd) {}
  uint32_t sequence = 0;

  void send(uint16_t opcode, const std::string& payload) {
    const Header header{magic, version, opcode, sequence, static_cast<uint32_t>(payload.size())};
    write_all(out_, &header, sizeof header);
    write_all(out_, payload.data(), payload.size());
  }

  void answer(Request& request) {
    const uint16_t reply = request.opcode | reply_bit;
    switch (request.opcode) {
      case hello: return send(reply, run_hello());
      case load_folder: return send(reply, run_load(request));
      case logits: return send(reply, run_logits(request));
      case trace: return send(reply, run_trace(request));
      case batch: return send(reply, run_batch(request));
      case prefill: return send(reply, run_prefill(request));
      case decode: return run_decode(request, 1);
      case poison: lengths_ = {}; poison_state(ctx_, model()); return send(reply, "");
      case encode_text: return send(reply, run_encode(request));
      case decode_text: return send(reply, run_decode_text(request));
      case generate_text: return send(reply | last_bit, run_generate(request));
      case batch_decode: return run_decode(request, request.u32());
      case quit: return send(reply, "");
      default: throw EngineError("unknown opcode " + std::to_string(request.opcode));
    }
  }

 private:
  Model& model() {
    if (model_ == nullptr) throw EngineError("no model is loaded");
    return *model_;
  }
  const Tokenizer& tokenizer() {
    model();
    if (tokenizer_ == nullptr) tokenizer_ = load_tokenizer(folder_);
    return *tokenizer_;
  }
  // Whether text can be sent now: a model is loaded, and its folder and this engine have a tokenizer.
  bool can_encode() {
    try {
      encode(tokenizer(), "", false, false);
      return true;
    } catch (const EngineError&) {
      return false;
    }
  }
  static void check_slot(uint32_t slot) {
    if (slot >= config::max_batch) throw EngineError("slot " + std::to_string(slot) + " of " + std::to_string(config::max_batch));
  }
  static void check_count(size_t count) {
    if (count == 0 || count > config::max_context)
      throw EngineError(std::to_string(count) + " tokens; expected 1.." + std::to_string(config::max_context));
  }
  // Room for a reply of `rows` rows of `columns` floats.
  static std::vector<float> rows_of(size_t rows, size_t columns) {
    if (rows > max_payload / 4 / columns) throw EngineError(std::to_string(rows) + " rows make a reply of more than 1 GiB");
    return std::vector<float>(rows * columns);
  }

  enum class Want : uint8_t { all_rows, last_row };
  // Feeds ids [begin, end) of one sequence in calls of at most max_rows rows.
  void feed(uint32_t slot, std::span<const int32_t> ids, size_t begin, size_t end, Want want, float* to) {
    while (begin < end) {
      const size_t count = std::min<size_t>(end - begin, config::max_rows);
      std::vector<Row> rows;
      std::vector<int32_t> wanted;
      for (size_t i = 0; i < count; ++i) {
        rows.push_back({ids[begin + i], static_cast<int32_t>(slot), static_cast<int32_t>(begin + i)});
        if (want == Want::all_rows || begin + i + 1 == ids.size()) wanted.push_back(static_cast<int32_t>(i));
      }
      forward(ctx_, model(), rows, wanted, f32_view(to, config::vocab_size), nullptr, nullptr);
      to += wanted.size() * size_t{config::vocab_size};
      begin += count;
    }
    lengths_[slot] = end;
  }

  std::string run_hello() {
    std::string json = "{\"protocol\":1,\"name\":" + json_quote(config::engine_name);
    const std::pair<const char*, int> sizes[] = {
        {"threads", ctx_.pool.threads()},      {"max_context", config::max_context}, {"max_batch", config::max_batch},
        {"vocab_size", config::vocab_size},    {"hidden_size", config::hidden_size}, {"num_layers", config::num_layers}};
    for (const auto& [name, value] : sizes) json += ",\"" + std::string(name) + "\":" + std::to_string(value);
    return json + ",\"tokenizer\":" + (can_encode() ? "true}" : "false}");
  }

  std::string run_load(Request& request) {
    model_.reset();
    tokenizer_.reset();
    folder_ = request.rest();
    lengths_ = {};
    model_ = std::make_unique<Model>(load_model(ctx_, folder_));
    std::string json = "{\"tensors\":[";
    int64_t bytes = 0;
    for (const auto& [name, tensor] : model_->ledger) {
      int64_t elements = 1;
      json += (json.back() == '[' ? "" : ",");
      json += "{\"name\":" + json_quote(name) + ",\"dtype\":\"" + dtype_name(tensor.dtype) + "\",\"shape\":[";
      for (const int64_t size : tensor.shape) {
        json += (json.back() == '[' ? "" : ",") + std::to_string(size);
        elements *= size;
      }
      json += "],\"reads\":" + std::to_string(tensor.reads) + "}";
      bytes += elements * element_bytes(tensor.dtype);
    }
    const size_t kv_bytes = model_->kv.keys.bytes() + model_->kv.values.bytes();
    return json + "],\"weight_bytes\":" + std::to_string(bytes) + ",\"kv_bytes\":" + std::to_string(kv_bytes) + "}";
  }

  std::string run_logits(Request& request) {
    const std::vector<int32_t> chunks = request.ids(request.u32());
    const std::vector<int32_t> ids = request.ids(request.u32());
    request.end();
    check_count(ids.size());
    uint64_t sum = 0;
    for (const int32_t chunk : chunks) sum += static_cast<uint32_t>(chunk);
    if (sum != ids.size()) throw EngineError("the chunks hold " + std::to_string(sum) + " ids of " + std::to_string(ids.size()));
    std::vector<float> rows = rows_of(ids.size(), config::vocab_size);
    size_t begin = 0;
    for (const int32_t chunk : chunks) {
      const size_t end = begin + static_cast<size_t>(chunk);
      feed(0, ids, begin, end, Want::all_rows, rows.data() + begin * config::vocab_size);
      begin = end;
    }
    std::string reply;
    append_floats(reply, rows);
    return reply;
  }

  std::string run_trace(Request& request) {
    const std::vector<int32_t> ids = request.ids(request.u32());
    request.end();
    check_count(ids.size());
    constexpr size_t stages = 2 * config::num_layers + 2, step = 16;  // few rows a call: their logits are thrown away
    struct Sink {
      std::vector<float> values;
      size_t begin, num_ids;
    } sink{rows_of(stages * ids.size(), config::hidden_size), 0, ids.size()};
    std::vector<float> scratch(step * config::vocab_size);
    for (; sink.begin < ids.size(); sink.begin += step) {
      std::vector<Row> rows;
      std::vector<int32_t> wanted;
      for (size_t i = sink.begin; i < std::min(ids.size(), sink.begin + step); ++i) {
        wanted.push_back(static_cast<int32_t>(rows.size()));
        rows.push_back({ids[i], 0, static_cast<int32_t>(i)});
      }
      const TraceSink copy = [](void* user, int stage, int num_rows, View hidden) {
        Sink& to = *static_cast<Sink*>(user);
        for (int row = 0; row < num_rows; ++row) {
          const size_t index = static_cast<size_t>(stage) * to.num_ids + to.begin + static_cast<size_t>(row);
          std::copy_n(hidden.row(row), config::hidden_size, to.values.data() + index * config::hidden_size);
        }
      };
      forward(ctx_, model(), rows, wanted, f32_view(scratch.data(), config::vocab_size), copy, &sink);
    }
    lengths_[0] = ids.size();
    std::string reply;
    append_floats(reply, sink.values);
    return reply;
  }

  std::string run_batch(Request& request) {
    const std::vector<int32_t> lengths = request.ids(request.u32());
    if (lengths.size() > config::max_batch) throw EngineError("more sequences than max_batch");
    std::vector<std::vector<int32_t>> sequences;
    std::vector<size_t> starts;  // row of each sequence's first logits
    size_t total = 0, longest = 0;
    for (const int32_t length : lengths) {
      check_count(static_cast<uint32_t>(length));
      sequences.push_back(request.ids(static_cast<uint32_t>(length)));
      starts.push_back(total);
      total += sequences.back().size();
      longest = std::max(longest, sequences.back().size());
    }
    request.end();
    std::vector<float> all = rows_of(total, config::vocab_size), step(sequences.size() * config::vocab_size);
    for (size_t t = 0; t < longest; ++t) {
      std::vector<Row> rows;
      std::vector<int32_t> wanted;
      for (size_t s = 0; s < sequences.size(); ++s) {
        if (t >= sequences[s].size()) continue;
        wanted.push_back(static_cast<int32_t>(rows.size()));
        rows.push_back({sequences[s][t], static_cast<int32_t>(s), static_cast<int32_t>(t)});
        lengths_[s] = t + 1;
      }
      forward(ctx_, model(), rows, wanted, f32_view(step.data(), config::vocab_size), nullptr, nullptr);
      for (size_t i = 0; i < rows.size(); ++i)
        std::copy_n(step.data() + i * config::vocab_size, config::vocab_size,
                    all.data() + (starts[static_cast<size_t>(rows[i].slot)] + t) * config::vocab_size);
    }
    std::string reply;
    append_floats(reply, all);
    return reply;
  }

  std::string run_prefill(Request& request) {
    const uint32_t slot = request.u32();
    check_slot(slot);
    const std::vector<int32_t> ids = request.ids(request.u32());
    request.end();
    check_count(ids.size());
    std::vector<float> row(config::vocab_size);
    feed(slot, ids, 0, ids.size(), Want::last_row, row.data());
    std::string reply;
    append_u32(reply, argmax(row.data()));
    append_floats(reply, row);
    return reply;
  }

  // Slots 0..n-1 side by side, or the one slot that the payload names; each feeds its own argmax on.
  void run_decode(Request& request, size_t num_slots) {
    std::vector<Row> rows;
    std::vector<int32_t> wanted;
    const uint32_t first_slot = request.opcode == decode ? request.u32() : 0;
    for (const int32_t token : request.ids(num_slots)) {
      const uint32_t slot = first_slot + static_cast<uint32_t>(rows.size());
      check_slot(slot);
      wanted.push_back(static_cast<int32_t>(rows.size()));
      rows.push_back({token, static_cast<int32_t>(slot), static_cast<int32_t>(lengths_[slot])});
    }
    const uint32_t steps = request.u32();
    request.end();
    for (const Row& row : rows)
      if (static_cast<size_t>(row.position) + steps > config::max_context) throw EngineError("the context is too short for these steps");
    std::vector<float> scores = rows_of(rows.size(), config::vocab_size);
    const uint16_t reply = request.opcode | reply_bit;
    for (uint32_t step = 0; step < steps; ++step) {
      forward(ctx_, model(), rows, wanted, f32_view(scores.data(), config::vocab_size), nullptr, nullptr);
      std::string payload;
      append_u32(payload, step);
      for (size_t i = 0; i < rows.size(); ++i) {
        const uint32_t best = argmax(scores.data() + i * config::vocab_size);
        append_u32(payload, best);
        rows[i].token = static_cast<int32_t>(best);
        lengths_[static_cast<size_t>(rows[i].slot)] = static_cast<size_t>(++rows[i].position);
      }
      send(reply, payload);
    }
    std::string last;
    append_u32(last, steps);
    append_floats(last, scores);
    send(reply | last_bit, last);
  }

  std::string run_encode(Request& request) {
    const int flags = request.take(1)[0];
    std::string reply;
    for (const int32_t id : encode(tokenizer(), request.rest(), (flags & 1) != 0, (flags & 2) != 0))
      append_u32(reply, static_cast<uint32_t>(id));
    return reply;
  }

  std::string run_decode_text(Request& request) {
    TextStream stream(tokenizer(), (request.take(1)[0] & 1) != 0);
    const std::vector<int32_t> ids = request.ids((request.bytes.size() - request.at) / 4);
    request.end();
    std::string reply;
    for (size_t i = 0; i < ids.size(); ++i) {
      std::string chunk = stream.append(ids[i]);
      if (i + 1 == ids.size()) chunk += stream.finish();
      append_u32(reply, chunk.size());
      reply += chunk;
    }
    return reply;
  }

  std::string run_generate(Request& request) {
    const Json json = parse_json(request.rest(), "generate request");
    const auto number = [&](const char* key, double otherwise) {
      const Json* value = json.find(key);
      return value == nullptr ? otherwise : value->number;
    };
    GenerationRequest job;
    if (const Json* ids = json.find("prompt_ids"); ids != nullptr) {
      for (const Json& id : ids->items) job.prompt_ids.push_back(static_cast<int32_t>(id.integer()));
    } else {
      job.prompt_ids = encode(tokenizer(), json.at("prompt").string, true, true);
    }
    job.max_tokens = static_cast<int32_t>(number("max_tokens", job.max_tokens));
    job.sampling.temperature = number("temperature", job.sampling.temperature);
    job.sampling.top_k = static_cast<int32_t>(number("top_k", job.sampling.top_k));
    job.sampling.top_p = number("top_p", job.sampling.top_p);
    job.sampling.min_p = number("min_p", job.sampling.min_p);
    job.sampling.repetition_penalty = number("repetition_penalty", job.sampling.repetition_penalty);
    job.sampling.seed = static_cast<uint64_t>(number("seed", 0));
    if (const Json* stop = json.find("stop"); stop != nullptr)
      for (const Json& text : stop->items) job.stops.push_back(text.string);
    if (const Json* ignore = json.find("ignore_eos"); ignore != nullptr) job.ignore_eos = ignore->boolean;
    const GenerationResult result = generate(ctx_, model(), tokenizer(), job, [&](int32_t id, std::string_view text) {
      std::string payload;
      append_u32(payload, static_cast<uint32_t>(id));
      send(generate_text | reply_bit, payload.append(text));
    });
    lengths_[0] = 0;
    std::string reply = "{\"finish_reason\":" + json_quote(result.finish_reason) + ",\"text\":" + json_quote(result.text) + ",\"ids\":[";
    for (const int32_t id : result.ids) reply += (reply.back() == '[' ? "" : ",") + std::to_string(id);
    return reply + "]}";
  }

  Context& ctx_;
  int out_;
  std::unique_ptr<Model> model_;
  std::string folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::array<size_t, config::max_batch> lengths_{};  // tokens in each slot
};

}  // namespace

int serve_harness(Context& ctx, int in_fd, int out_fd) {
  std::signal(SIGPIPE, SIG_IGN);
  Session session(ctx, out_fd);
  for (Header header; read_all(in_fd, &header, sizeof header);) {
    session.sequence = header.sequence;
    if (header.magic != magic || header.version != version || header.payload_bytes > max_payload) {
      session.send(failure, "malformed frame: magic, version or length");
      return 1;
    }
    Request request{header.opcode, std::string(header.payload_bytes, '\0')};
    if (!read_all(in_fd, request.bytes.data(), request.bytes.size())) return 1;
    try {
      session.answer(request);
    } catch (const EngineError& error) {
      session.send(failure, error.what());
    } catch (const std::bad_alloc&) {
      session.send(failure, "out of memory");
    }
    if (header.opcode == quit) return 0;
  }
  return 0;
}
