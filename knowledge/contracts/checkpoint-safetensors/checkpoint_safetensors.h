// SPDX-License-Identifier: MIT
// checkpoint.safetensors: the tensors of a Hugging Face folder (one file, or shards with an index), each taken exactly
// once. Files are mapped, not read; a Tensor's data lives as long as its Checkpoint.
#pragma once
#include <map>
#include "runtime_context.h"

struct Tensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  const void* data;  // [shape], row-major, maybe unaligned
  int reads = 0;
};

class Checkpoint {
 public:
  // Adds a tensor whose bytes the caller keeps alive (in `owner`, or by itself). EngineError where the name repeats.
  void add(Tensor tensor, std::shared_ptr<const void> owner);
  bool has(const std::string& name) const { return tensors_.contains(name); }
  // EngineError where it is missing, has another shape, or was taken before.
  const Tensor& take(const std::string& name, const std::vector<int64_t>& shape);
  // EngineError that names the tensors never taken, but for buffers that follow from the config (rotary_emb.inv_freq).
  void finish();
  const std::map<std::string, Tensor>& ledger() const { return tensors_; }

 private:
  std::map<std::string, Tensor> tensors_;
  std::vector<std::shared_ptr<const void>> owners_;
};

// model.safetensors.index.json where present, else model.safetensors. EngineError names file and tensor.
Checkpoint open_checkpoint(const std::string& folder);
const char* dtype_name(DType dtype);  // as in the file: F32, BF16, F16
int64_t element_bytes(DType dtype);
// Elements [first, first + count) in f32, which holds every bf16 and f16 value exactly.
void to_f32(const Tensor& tensor, int64_t first, int64_t count, float* out /*[count]*/);
// Takes a one-dimensional tensor; norm gains and biases stay f32 whatever the weight format is.
std::vector<float> take_vector(Checkpoint& checkpoint, const std::string& name, int64_t size);
