// SPDX-License-Identifier: MIT
// The few C functions and structures of llama.cpp that the peer driver uses, declared by ourselves after include/llama.h
// and ggml/include/ggml-backend.h of v0.5.0 (commit de3ff81, MIT): the prebuilt package has no headers. Pointers to types
// that we never touch are void*, enumerations are int32_t. The driver's check_layout() refuses another layout.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
struct llama_model;
struct llama_context;
struct llama_vocab;
struct llama_memory_i;

struct llama_model_params {
  void* devices;
  const void* tensor_buft_overrides;
  int32_t n_gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
  const float* tensor_split;
  void* progress_callback;
  void* progress_callback_user_data;
  const void* kv_overrides;
  bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};

struct llama_context_params {
  uint32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
  int32_t n_threads, n_threads_batch;
  int32_t ctx_type, rope_scaling_type, pooling_type, attention_type, flash_attn_type;
  float rope_freq_base, rope_freq_scale, yarn_ext_factor, yarn_attn_factor, yarn_beta_fast, yarn_beta_slow;
  uint32_t yarn_orig_ctx;
  float defrag_thold;
  void* cb_eval;
  void* cb_eval_user_data;
  int32_t type_k, type_v;
  void* abort_callback;
  void* abort_callback_data;
  bool embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified;
  void* samplers;
  size_t n_samplers;
  llama_context* ctx_other;
};

struct llama_batch {
  int32_t n_tokens;
  int32_t* token;
  float* embd;
  int32_t* pos;
  int32_t* n_seq_id;
  int32_t** seq_id;
  int8_t* logits;
};

llama_model_params llama_model_default_params();
llama_context_params llama_context_default_params();
void llama_backend_init();
void llama_log_set(void (*)(int32_t level, const char* text, void* user), void* user);
llama_model* llama_model_load_from_file(const char* path, llama_model_params);
llama_context* llama_init_from_model(llama_model*, llama_context_params);
void llama_free(llama_context*);
void llama_model_free(llama_model*);
const llama_vocab* llama_model_get_vocab(const llama_model*);
int32_t llama_vocab_n_tokens(const llama_vocab*);
int32_t llama_model_n_embd(const llama_model*);
int32_t llama_model_n_layer(const llama_model*);
uint64_t llama_model_size(const llama_model*);
int32_t llama_model_meta_val_str(const llama_model*, const char* key, char* buffer, size_t size);
llama_memory_i* llama_get_memory(const llama_context*);
bool llama_memory_seq_rm(llama_memory_i*, int32_t sequence, int32_t from, int32_t to);
int32_t llama_memory_seq_pos_max(llama_memory_i*, int32_t sequence);
int32_t llama_decode(llama_context*, llama_batch);
float* llama_get_logits_ith(llama_context*, int32_t row);
void ggml_backend_load_all_from_path(const char* folder);
}
