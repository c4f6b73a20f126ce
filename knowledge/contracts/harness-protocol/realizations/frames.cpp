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

namespace {

constexpr uint32_t magic = 0x3148494d, max_payload = uint32_t{1} << 30;
constexpr uint16_t version = 1, reply_bit = 0x8000, last_bit = 0x0100, failure = 0xffff;
enum Operation : uint16_t {
  hello = 1, load, logits, trace, batch, prefill, decode, poison, encode_text, decode_text, generation, batch_decode, quit
};
constexpr size_t vocab = config::vocab_size, nowhere = ~size_t{0};

struct Header {
  uint32_t magic;
  uint16_t version, opcode;
  uint32_t sequence, payload_bytes;
};

// Moves all bytes by read or write; false at the end of the stream.
template <typename Call, typename Byte>
bool move_all(Call call, int fd, Byte* at, size_t bytes) {
  while (bytes > 0) {
    const ssize_t moved = call(fd, at, bytes);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    at += moved;
    bytes -= static_cast<size_t>(moved);
  }
  return true;
}

// The payload of a request, read from the front.
struct Request {
  uint16_t opcode;
  std::string bytes;
  size_t at = 0;
  std::string_view take(size_t count) {
    if (count > bytes.size() - at) throw EngineError("payload too short for opcode " + std::to_string(opcode));
    return std::string_view(bytes).substr(std::exchange(at, at + count), count);
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

// A row of a forward call and the row of the reply for its logits.
struct Placed {
  Row row;
  size_t to;
};

void append_u32(std::string& out, size_t value) { out.append(reinterpret_cast<const char*>(&value), 4); }
std::string float_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}
size_t argmax(const float* values) { return static_cast<size_t>(std::max_element(values, values + vocab) - values); }
// Floats of a reply.
std::vector<float> make_rows(size_t rows, size_t columns) {
  if (rows > max_payload / 4 / columns) throw EngineError(std::to_string(rows) + " rows make a reply of more than 1 GiB");
  return std::vector<float>(rows * columns);
}
void check_range(const char* what, size_t value, size_t first, size_t last) {
  if (value < first || value > last)
    throw EngineError(std::to_string(value) + " " + what + "; expected " + std::to_string(first) + ".." + std::to_string(last));
}

class Session {
 public:
  Session(Context& ctx, int out_fd) : ctx_(ctx), out_(out_fd) {}
  uint32_t sequence = 0;

  void send(uint16_t opcode, const std::string& payload) {
    const Header header{magic, version, opcode, sequence, static_cast<uint32_t>(payload.size())};
    const bool sent = move_all(write, out_, reinterpret_cast<const char*>(&header), sizeof header) &&
                      move_all(write, out_, payload.data(), payload.size());
    if (!sent) throw std::runtime_error("the harness is gone");
  }

  void answer(Request& request) {
    const uint16_t reply = request.opcode | reply_bit;
    switch (request.opcode) {
      case hello: return send(reply, run_hello());
      case load: return send(reply, run_load(request));
      case logits: return send(reply, run_logits(request));
      case trace: return send(reply, run_trace(request));
      case batch: return send(reply, run_batch(request));
      case prefill: return send(reply, run_prefill(request));
      case decode: return run_decode(request, request.u32(), 1);
      case poison:
        lengths_ = {};
        poison_state(ctx_, model());
        return send(reply, "");
      case encode_text: return send(reply, run_encode(request));
      case decode_text: return send(reply, run_decode_text(request));
      case generation: return send(reply | last_bit, run_generation(request));
      case batch_decode: return run_decode(request, 0, request.u32());
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
    if (tokenizer_ == nullptr) tokenizer_ = load_tokenizer(folder_);
    return *tokenizer_;
  }

  // One forward call, or several where there are more than max_rows rows.
  void run_rows(std::span<const Placed> placed, float* to, TraceSink sink = nullptr, void* user = nullptr) {
    for (; !placed.empty(); placed = placed.subspan(std::min<size_t>(placed.size(), config::max_rows))) {
      std::vector<Row> rows;
      std::vector<int32_t> wanted;
      std::vector<size_t> places;
      for (const Placed& item : placed.first(std::min<size_t>(placed.size(), config::max_rows))) {
        if (item.to != nowhere) {
          wanted.push_back(static_cast<int32_t>(rows.size()));
          places.push_back(item.to);
        }
        rows.push_back(item.row);
      }
      std::vector<float> scores(wanted.size() * vocab);
      forward(ctx_, model(), rows, wanted, f32_view(scores.data(), config::vocab_size), sink, user);
      for (size_t i = 0; i < places.size(); ++i) std::copy_n(scores.data() + i * vocab, vocab, to + places[i] * vocab);
      for (const Row& row : rows) lengths_[static_cast<size_t>(row.slot)] = static_cast<size_t>(row.position) + 1;
    }
  }
  static std::vector<Placed> place(std::span<const int32_t> ids, size_t slot) {
    check_range("tokens", ids.size(), 1, config::max_context);
    std::vector<Placed> rows;
    for (const int32_t id : ids)
      rows.push_back({{id, static_cast<int32_t>(slot), static_cast<int32_t>(rows.size())}, rows.size()});
    return rows;
  }

  std::string run_hello() {
    bool text = model_ != nullptr;  // whether text can be sent now: this engine and the loaded folder have a tokenizer
    try {
      if (text) encode(tokenizer(), "", false, false);
    } catch (const EngineError&) {
      text = false;
    }
    std::string json = "{\"protocol\":1,\"name\":" + json_quote(config::engine_name);
    const std::pair<const char*, int> sizes[] = {
        {"threads", ctx_.pool.threads()},   {"max_context", config::max_context}, {"max_batch", config::max_batch},
        {"vocab_size", config::vocab_size}, {"hidden_size", config::hidden_size}, {"num_layers", config::num_layers}};
    for (const auto& [name, value] : sizes) json += ",\"" + std::string(name) + "\":" + std::to_string(value);
    return json + ",\"tokenizer\":" + (text ? "true}" : "false}");
  }

  std::string run_load(Request& request) {
    model_.reset();  // before the next one: two may not fit
    tokenizer_.reset();
    lengths_ = {};
    folder_ = request.rest();
    model_ = std::make_unique<Model>(load_model(ctx_, folder_));
    std::string json = "{\"tensors\":[";
    int64_t bytes = 0;
    for (const auto& [name, tensor] : model_->ledger) {
      int64_t size = element_bytes(tensor.dtype);
      json += (bytes == 0 ? "{\"name\":" : ",{\"name\":") + json_quote(name) + ",\"dtype\":\"" + dtype_name(tensor.dtype) + "\",\"shape\":[";
      for (const int64_t side : tensor.shape) {
        json += (json.back() == '[' ? "" : ",") + std::to_string(side);
        size *= side;
      }
      json += "],\"reads\":" + std::to_string(tensor.reads) + "}";
      bytes += size;
    }
    const size_t kv_bytes = model_->kv.keys.bytes() + model_->kv.values.bytes();
    return json + "],\"weight_bytes\":" + std::to_string(bytes) + ",\"kv_bytes\":" + std::to_string(kv_bytes) + "}";
  }

  std::string run_logits(Request& request) {
    const std::vector<int32_t> chunks = request.ids(request.u32()), ids = request.ids(request.u32());
    request.end();
    const std::vector<Placed> rows = place(ids, 0);
    std::vector<float> scores = make_rows(rows.size(), vocab);
    size_t begin = 0;
    for (const int32_t chunk : chunks) {
      check_range("ids in a chunk", static_cast<uint32_t>(chunk), 0, rows.size() - begin);
      run_rows(std::span(rows).subspan(begin, static_cast<size_t>(chunk)), scores.data());
      begin += static_cast<size_t>(chunk);
    }
    check_range("ids in all chunks", begin, rows.size(), rows.size());
    return float_bytes(scores);
  }

  std::string run_trace(Request& request) {
    std::vector<Placed> rows = place(request.ids(request.u32()), 0);
    request.end();
    constexpr size_t stages = 2 * config::num_layers + 2, hidden_size = config::hidden_size;
    struct Sink {
      std::vector<float> values;
      size_t num_rows, at;
    } sink{make_rows(stages * rows.size(), hidden_size), rows.size(), 0};
    std::vector<float> scores(vocab);
    for (Placed& item : rows) {  // one by one: their logits, which nobody wants, would be large
      item.to = 0;
      run_rows({&item, 1}, scores.data(), [](void* user, int stage, int, View hidden) {
        Sink& to = *static_cast<Sink*>(user);
        std::copy_n(hidden.row(0), hidden_size, &to.values[(static_cast<size_t>(stage) * to.num_rows + to.at) * hidden_size]);
      }, &sink);
      ++sink.at;
    }
    return float_bytes(sink.values);
  }

  std::string run_batch(Request& request) {
    const std::vector<int32_t> lengths = request.ids(request.u32());
    check_range("sequences", lengths.size(), 1, config::max_batch);
    std::vector<std::vector<Placed>> steps(config::max_context);
    size_t slot = 0, total = 0;
    for (const int32_t length : lengths) {
      for (Placed item : place(request.ids(static_cast<uint32_t>(length)), slot)) {
        item.to = total++;
        steps[static_cast<size_t>(item.row.position)].push_back(item);
      }
      ++slot;
    }
    request.end();
    std::vector<float> scores = make_rows(total, vocab);
    for (const std::vector<Placed>& step : steps) run_rows(step, scores.data());
    return float_bytes(scores);
  }

  std::string run_prefill(Request& request) {
    const size_t slot = request.u32();
    check_range("is the slot", slot, 0, config::max_batch - 1);
    std::vector<Placed> rows = place(request.ids(request.u32()), slot);
    request.end();
    for (Placed& item : rows) item.to = nowhere;
    rows.back().to = 0;
    std::vector<float> scores(vocab);
    run_rows(rows, scores.data());
    std::string reply;
    append_u32(reply, argmax(scores.data()));
    return reply + float_bytes(scores);
  }

  // Slots first..first+count-1 side by side; each feeds its own argmax on.
  void run_decode(Request& request, size_t first, size_t count) {
    const std::vector<int32_t> tokens = request.ids(count);
    const uint32_t steps = request.u32();
    request.end();
    check_range("slots", first + tokens.size(), 1, config::max_batch);
    std::vector<Placed> rows;
    for (const int32_t token : tokens) {
      const size_t slot = first + rows.size();
      check_range("tokens", lengths_[slot] + steps, 0, config::max_context);
      rows.push_back({{token, static_cast<int32_t>(slot), static_cast<int32_t>(lengths_[slot])}, rows.size()});
    }
    std::vector<float> scores = make_rows(rows.size(), vocab);
    for (uint32_t step = 0; step < steps; ++step) {
      run_rows(rows, scores.data());
      std::string payload;
      append_u32(payload, step);
      for (Placed& item : rows) {
        const size_t best = argmax(&scores[item.to * vocab]);
        append_u32(payload, best);
        item.row.token = static_cast<int32_t>(best);
        ++item.row.position;
      }
      send(request.opcode | reply_bit, payload);
    }
    std::string last;
    append_u32(last, steps);
    send(request.opcode | reply_bit | last_bit, last + float_bytes(scores));
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
    std::string reply, chunk;
    for (size_t left = request.ids((request.bytes.size() - 1) / 4).size(), at = 1; left > 0; --left, at += 4) {
      int32_t id;
      std::memcpy(&id, request.bytes.data() + at, 4);
      chunk = stream.append(id);
      if (left == 1) chunk += stream.finish();
      append_u32(reply, chunk.size());
      reply += chunk;
    }
    request.end();
    return reply;
  }

  std::string run_generation(Request& request) {
    const Json json = parse_json(request.rest(), "generate request");
    GenerationRequest job;
    for (const auto& [key, value] : json.members) {
      if (key == "prompt") {
        job.prompt_ids = encode(tokenizer(), value.string, true, true);
      } else if (key == "prompt_ids") {
        for (const Json& id : value.items) job.prompt_ids.push_back(static_cast<int32_t>(id.integer()));
      } else if (key == "stop") {
        for (const Json& text : value.items) job.stops.push_back(text.string);
      } else if (key == "ignore_eos") {
        job.ignore_eos = value.boolean;
      } else if (!set_parameter(job, key, value.number)) {
        throw EngineError("unknown or impossible " + json_quote(key));
      }
    }
    const GenerationResult result = generate(ctx_, model(), tokenizer(), job, [&](int32_t id, std::string_view text) {
      std::string payload;
      append_u32(payload, static_cast<uint32_t>(id));
      send(generation | reply_bit, payload.append(text));
    });
    lengths_[0] = 0;
    std::string ids;
    for (const int32_t id : result.ids) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    return "{\"finish_reason\":" + json_quote(result.finish_reason) + ",\"text\":" + json_quote(result.text) + ",\"ids\":[" + ids + "]}";
  }

  Context& ctx_;
  int out_;
  std::unique_ptr<Model> model_;
  std::string folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::array<size_t, config::max_batch> lengths_{};  // tokens in each slot
};

}  // namespace

bool set_parameter(GenerationRequest& request, std::string_view name, double value) {
  const bool whole = value == std::floor(value) && value >= 0;
  Sampling& sampling = request.sampling;
  if (name == "temperature") return sampling.temperature = value, true;
  if (name == "top_p") return sampling.top_p = value, true;
  if (name == "min_p") return sampling.min_p = value, true;
  if (name == "repetition_penalty") return sampling.repetition_penalty = value, true;
  if (name == "seed") return sampling.seed = static_cast<uint64_t>(whole && value <= 0x1p53 ? value : 0), whole && value <= 0x1p53;
  const int32_t count = whole && value < 0x1p31 ? static_cast<int32_t>(value) : -1;
  if (name == "top_k") return sampling.top_k = count, count >= 0;
  return name == "max_tokens" && (request.max_tokens = count) >= 0;
}

int serve_harness(Context& ctx, int in_fd, int out_fd) {
  std::signal(SIGPIPE, SIG_IGN);
  Session session(ctx, out_fd);
  for (Header header; move_all(read, in_fd, reinterpret_cast<char*>(&header), sizeof header);) {
    session.sequence = header.sequence;
    if (header.magic != magic || header.version != version || header.payload_bytes > max_payload) {
      session.send(failure, "malformed frame: magic, version or length");
      return 1;
    }
    Request request{header.opcode, std::string(header.payload_bytes, '\0')};
    if (!move_all(read, in_fd, request.bytes.data(), request.bytes.size())) return 1;
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
