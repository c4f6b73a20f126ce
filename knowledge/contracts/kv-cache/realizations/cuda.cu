// SPDX-License-Identifier: MIT
// kv.cache, CUDA, contiguous: f32 keys and values, both [layer][slot][kv_head][position][head_dim]. A thread copies 16
// bytes of a key and of a value. Target: sm_80, sm_90; exact.
// applies: hardware.platform=cuda, serving.kv=contiguous
// requires: runtime.cuda
#include "kv_cache.h"
#include "runtime_cuda.h"

static_assert(config::head_dim % 4 == 0 && KvCache::lanes == 1, "keys and values are read in 16-byte loads");

constexpr int head_quads = config::head_dim / 4, row_quads = config::num_kv_heads * head_quads;
constexpr int64_t head_floats = KvCache::positions * config::head_dim;
constexpr int block_threads = 128;

static int64_t head_offset(int layer, int slot, int kv_head) {
  return ((int64_t{layer} * config::max_batch + slot) * config::num_kv_heads + kv_head) * head_floats;
}

float* kv_keys(const KvCache& kv, int layer, int slot, int kv_head) {
  return kv.keys.as<float>() + head_offset(layer, slot, kv_head);
}

float* kv_values(const KvCache& kv, int layer, int slot, int kv_head) {
  return kv.values.as<float>() + head_offset(layer, slot, kv_head);
}

// Block (row, part of the row); keys and values begin at slot 0 of the layer.
__global__ void append_rows(const Row* rows, View k, View v, float* keys, float* values) {
  const int quad = static_cast<int>(blockIdx.y * block_threads + threadIdx.x);
  if (quad >= row_quads) return;
  const Row row = rows[blockIdx.x];
  const int64_t head = int64_t{row.slot} * config::num_kv_heads + quad / head_quads;
  const int64_t to = (head * head_floats + int64_t{row.position} * config::head_dim) / 4 + quad % head_quads;
  reinterpret_cast<float4*>(keys)[to] = reinterpret_cast<const float4*>(row_of(k, blockIdx.x))[quad];
  reinterpret_cast<float4*>(values)[to] = reinterpret_cast<const float4*>(row_of(v, blockIdx.x))[quad];
}

void kv_append(Context&, int num_rows, const Row* rows, View k, View v, KvCache& kv, int layer) {
  constexpr unsigned parts = (row_quads + block_threads - 1) / block_threads;
  launch("kv_append", append_rows, dim3(static_cast<unsigned>(num_rows), parts), block_threads, rows, k, v,
         kv_keys(kv, layer, 0, 0), kv_values(kv, layer, 0, 0));
}

void kv_poison(KvCache& kv) {
  fill_nan(kv.keys);
  fill_nan(kv.values);
}
