// SPDX-License-Identifier: MIT
// The llama.cpp peer: runs a GGUF file with the prebuilt libraries of @node-llama-cpp/linux-x64 and speaks the harness
// protocol (version 1) on file descriptors 3 and 4. Arguments: --backends DIR --threads N --context N --slots N
// --kv f32|f16 --flash on|off|auto. check_layout() compares the defaults that the library fills in with those of v0.5.0,
// so that another version with another structure layout is refused, not misread.
#include "llama-cpp-api.h"
#include "llama-cpp-frames.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Options {
  std::string backends;
  int threads = 1, context = 512, slots = 1;
  int32_t kv_type = 1;  // ggml_type: 0 f32, 1 f16
  int32_t flash = -1;   // -1 auto, 0 off, 1 on
};

struct Peer {
  Options options;
  llama_model* model = nullptr;
  llama_context* context = nullptr;
  int vocab = 0;
};

std::string last_error;

void keep_error(int32_t level, const char* text, void*) {
  if (level == 4) last_error = text;
}

void refuse(const std::string& what) { throw std::runtime_error("llama.cpp: " + what + (last_error.empty() ? "" : ": " + last_error)); }

void check_layout() {
  const llama_model_params m = llama_model_default_params();
  const llama_context_params c = llama_context_default_params();
  const bool model_fits = m.devices == nullptr && m.n_gpu_layers == -1 && m.split_mode == 1 && m.load_mode == -1 && m.lazy_mode == 1 &&
                          m.main_gpu == 0 && m.kv_overrides == nullptr && !m.vocab_only && !m.check_tensors && m.use_extra_bufts &&
                          !m.no_host && !m.no_alloc && !m.load_mtp;
  const bool context_fits = c.n_ctx == 512 && c.n_batch == 2048 && c.n_ubatch == 512 && c.n_seq_max == 1 && c.n_outputs_max_per_seq == 1 &&
                            c.n_threads == 4 && c.n_threads_batch == 4 && c.rope_scaling_type == -1 && c.pooling_type == -1 &&
                            c.attention_type == -1 && c.flash_attn_type == -1 && c.yarn_ext_factor == -1.0F && c.yarn_beta_slow == -1.0F &&
                            c.yarn_orig_ctx == 0 && c.defrag_thold == -1.0F && c.type_k == 1 && c.type_v == 1 && c.abort_callback == nullptr &&
                            !c.embeddings && c.offload_kqv && c.no_perf && c.op_offload && c.swa_full && !c.kv_unified &&
                            c.samplers == nullptr && c.n_samplers == 0 && c.ctx_other == nullptr;
  if (!model_fits || !context_fits) refuse("its default parameters are not those of v0.5.0: another version?");
}

float metadata_number(const llama_model* model, const char* key, float otherwise) {
  char architecture[64] = "", text[64];
  llama_model_meta_val_str(model, "general.architecture", architecture, sizeof architecture);
  const std::string name = std::string(architecture) + "." + key;
  return llama_model_meta_val_str(model, name.c_str(), text, sizeof text) < 0 ? otherwise : std::strtof(text, nullptr);
}

void load(Peer& peer, const std::string& path) {
  if (peer.context != nullptr) llama_free(peer.context);
  if (peer.model != nullptr) llama_model_free(peer.model);
  peer.context = nullptr;
  llama_model_params model_params = llama_model_default_params();
  // Weights in memory of its own, as an engine's are: pages of a mapped file may be taken away while the other runs.
  model_params.load_mode = 0;
  peer.model = llama_model_load_from_file(path.c_str(), model_params);
  if (peer.model == nullptr) refuse("cannot load " + path);
  llama_context_params params = llama_context_default_params();
  params.n_seq_max = static_cast<uint32_t>(peer.options.slots);
  params.n_ctx = static_cast<uint32_t>(peer.options.context * peer.options.slots);
  params.n_threads = params.n_threads_batch = peer.options.threads;
  params.type_k = params.type_v = peer.options.kv_type;
  params.flash_attn_type = peer.options.flash;
  // Read from the file for few architectures only; see gguf-metadata.ts.
  params.yarn_beta_fast = metadata_number(peer.model, "rope.scaling.yarn_beta_fast", params.yarn_beta_fast);
  params.yarn_beta_slow = metadata_number(peer.model, "rope.scaling.yarn_beta_slow", params.yarn_beta_slow);
  peer.context = llama_init_from_model(peer.model, params);
  if (peer.context == nullptr) refuse("cannot make a context");
  peer.vocab = llama_vocab_n_tokens(llama_model_get_vocab(peer.model));
}

/** One llama_decode: `ids[i]` is the next token of sequence `slots[i]` at `positions[i]`. */
void forward(Peer& peer, std::vector<int32_t> ids, std::vector<int32_t> slots, std::vector<int32_t> positions, bool all_rows) {
  const size_t rows = ids.size();
  std::vector<int32_t> counts(rows, 1);
  std::vector<int32_t*> sequences;
  std::vector<int8_t> wanted(rows, all_rows ? 1 : 0);
  wanted.back() = 1;
  for (size_t i = 0; i < rows; ++i) {
    if (ids[i] < 0 || ids[i] >= peer.vocab) refuse("token id " + std::to_string(ids[i]) + " is outside the vocabulary");
    sequences.push_back(&slots[i]);
  }
  const llama_batch batch{static_cast<int32_t>(rows), ids.data(), nullptr, positions.data(), counts.data(), sequences.data(), wanted.data()};
  const int32_t status = llama_decode(peer.context, batch);
  if (status != 0) refuse("llama_decode returned " + std::to_string(status));
}

void forward_chunk(Peer& peer, int32_t slot, const std::vector<int32_t>& ids, size_t from, size_t count, bool all_rows) {
  const auto first = ids.begin() + static_cast<std::ptrdiff_t>(from);
  std::vector<int32_t> positions;
  for (size_t i = 0; i < count; ++i) positions.push_back(static_cast<int32_t>(from + i));
  forward(peer, {first, first + static_cast<std::ptrdiff_t>(count)}, std::vector<int32_t>(count, slot), positions, all_rows);
}

uint32_t argmax(const float* logits, int count) {
  int best = 0;
  for (int i = 1; i < count; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<uint32_t>(best);
}

size_t row_bytes(const Peer& peer) { return static_cast<size_t>(peer.vocab) * 4; }

void forget(Peer& peer, int32_t slot) {
  if (slot < 0 || slot >= peer.options.slots) refuse("slot " + std::to_string(slot) + " does not exist");
  llama_memory_seq_rm(llama_get_memory(peer.context), slot, -1, -1);
}

std::string hello(const Peer& peer) {
  std::string backend = "unknown", line;
  for (std::ifstream maps("/proc/self/maps"); std::getline(maps, line);) {
    const size_t at = line.find("libggml-cpu-");
    if (at != std::string::npos) backend = line.substr(at + 12, line.rfind(".so") - at - 12);
  }
  const Options& o = peer.options;
  const llama_model* m = peer.model;
  return "{\"protocol\":1,\"name\":\"llama.cpp v0.5.0 (" + backend + ")\",\"threads\":" + std::to_string(o.threads) +
         ",\"max_context\":" + std::to_string(o.context) + ",\"max_batch\":" + std::to_string(o.slots) +
         ",\"vocab_size\":" + std::to_string(peer.vocab) + ",\"hidden_size\":" + std::to_string(m == nullptr ? 0 : llama_model_n_embd(m)) +
         ",\"num_layers\":" + std::to_string(m == nullptr ? 0 : llama_model_n_layer(m)) + ",\"tokenizer\":false}";
}

void logits(Peer& peer, const Reply& reply, Payload& in) {
  const std::vector<int32_t> chunks = in.list(in.u32());
  const std::vector<int32_t> ids = in.list(in.u32());
  forget(peer, 0);
  std::string out;
  size_t from = 0;
  for (const int32_t chunk : chunks) {
    const size_t count = static_cast<size_t>(chunk);
    if (count == 0 || from + count > ids.size()) refuse("the chunks do not add up");
    forward_chunk(peer, 0, ids, from, count, true);
    for (size_t i = 0; i < count; ++i) out += bytes_of(llama_get_logits_ith(peer.context, static_cast<int32_t>(i)), row_bytes(peer));
    from += count;
  }
  reply.done(out);
}

void prefill(Peer& peer, const Reply& reply, Payload& in) {
  const int32_t slot = static_cast<int32_t>(in.u32());
  const std::vector<int32_t> ids = in.list(in.u32());
  forget(peer, slot);
  if (ids.empty()) refuse("prefill of no tokens");
  constexpr size_t batch = 2048;
  for (size_t from = 0; from < ids.size(); from += batch) {
    forward_chunk(peer, slot, ids, from, std::min(batch, ids.size() - from), false);
  }
  const float* row = llama_get_logits_ith(peer.context, -1);
  reply.done(u32_bytes(argmax(row, peer.vocab)) + bytes_of(row, row_bytes(peer)));
}

/** Greedy steps of slots 0..n-1 side by side (batch_decode), or of one slot (decode). */
void decode(Peer& peer, const Reply& reply, const std::vector<int32_t>& slots, std::vector<int32_t> ids, uint32_t steps) {
  std::vector<int32_t> positions;
  for (const int32_t slot : slots) positions.push_back(llama_memory_seq_pos_max(llama_get_memory(peer.context), slot) + 1);
  for (uint32_t step = 0; step < steps; ++step) {
    forward(peer, ids, slots, positions, true);
    std::string out = u32_bytes(step);
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<int32_t>(argmax(llama_get_logits_ith(peer.context, static_cast<int32_t>(i)), peer.vocab));
      ++positions[i];
      out += u32_bytes(static_cast<uint32_t>(ids[i]));
    }
    reply.done(out);
  }
  std::string last = u32_bytes(steps);
  for (size_t i = 0; i < ids.size() && steps > 0; ++i) last += bytes_of(llama_get_logits_ith(peer.context, static_cast<int32_t>(i)), row_bytes(peer));
  reply.send(static_cast<uint16_t>(reply.request.opcode | 0x8100), last);
}

void answer(Peer& peer, const Reply& reply, Payload& in) {
  const uint16_t opcode = reply.request.opcode;
  if (opcode == 1) return reply.done(hello(peer));
  if (opcode == 2) {
    load(peer, in.bytes);
    return reply.done("{\"tensors\":[],\"weight_bytes\":" + std::to_string(llama_model_size(peer.model)) + ",\"kv_bytes\":0}");
  }
  if (opcode == 13) {
    reply.done("");
    // The libraries' own static destructors have nothing to save; leaving at once cannot hang.
    _exit(0);
  }
  if (peer.context == nullptr) refuse("no model is loaded");
  if (opcode == 3) return logits(peer, reply, in);
  if (opcode == 6) return prefill(peer, reply, in);
  if (opcode == 7) {
    const int32_t slot = static_cast<int32_t>(in.u32()), first = static_cast<int32_t>(in.u32());
    return decode(peer, reply, {slot}, {first}, in.u32());
  }
  if (opcode == 12) {
    const std::vector<int32_t> ids = in.list(in.u32());
    std::vector<int32_t> slots;
    for (size_t i = 0; i < ids.size(); ++i) slots.push_back(static_cast<int32_t>(i));
    return decode(peer, reply, slots, ids, in.u32());
  }
  refuse("this peer does not answer opcode " + std::to_string(opcode));
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--backends") options.backends = value;
    else if (name == "--threads") options.threads = std::atoi(value.c_str());
    else if (name == "--context") options.context = std::atoi(value.c_str());
    else if (name == "--slots") options.slots = std::atoi(value.c_str());
    else if (name == "--kv") options.kv_type = value == "f32" ? 0 : 1;
    else if (name == "--flash") options.flash = value == "on" ? 1 : value == "off" ? 0 : -1;
    else refuse("unknown option " + name);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    llama_log_set(keep_error, nullptr);
    Peer peer{read_options(argc, argv)};
    check_layout();
    ggml_backend_load_all_from_path(peer.options.backends.c_str());
    llama_backend_init();
    Header header;
    while (read_fully(&header, sizeof header)) {
      if (header.magic != frame_magic || header.version != 1 || header.bytes > (1U << 30)) refuse("malformed frame");
      Payload payload{std::string(header.bytes, '\0')};
      if (!read_fully(payload.bytes.data(), header.bytes)) return 1;
      const Reply reply{header};
      try {
        answer(peer, reply, payload);
      } catch (const std::exception& error) {
        reply.send(0xFFFF, error.what());
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
