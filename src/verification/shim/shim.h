// SPDX-License-Identifier: MIT
// What a contract's shim.cpp sees: one case of a unit gate. It copies inputs to the symbols under test and outputs
// back; it computes nothing and decides nothing. The harness writes the inputs and compares the outputs elsewhere.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

struct ShimTensor {
  std::vector<int64_t> shape;
  char kind = 'f';  // 'f' f32, 'i' i32, 'u' bytes
  std::vector<float> f;
  std::vector<int32_t> i;
  std::vector<uint8_t> u;
};

struct ShimCase {
  std::string op;
  std::map<std::string, ShimTensor> in;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> strings;
  std::map<std::string, ShimTensor> out;
};

inline int64_t shim_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

// NaN everywhere: an element that the symbol forgets to write is seen.
inline ShimTensor shim_f32(std::vector<int64_t> shape) {
  ShimTensor tensor;
  tensor.f.assign(static_cast<size_t>(shim_count(shape)), std::numeric_limits<float>::quiet_NaN());
  tensor.shape = std::move(shape);
  return tensor;
}

inline ShimTensor shim_i32(std::vector<int64_t> shape) {
  ShimTensor tensor;
  tensor.kind = 'i';
  tensor.i.assign(static_cast<size_t>(shim_count(shape)), std::numeric_limits<int32_t>::min());
  tensor.shape = std::move(shape);
  return tensor;
}

inline ShimTensor shim_u8(std::vector<uint8_t> bytes) {
  ShimTensor tensor;
  tensor.kind = 'u';
  tensor.shape = {static_cast<int64_t>(bytes.size())};
  tensor.u = std::move(bytes);
  return tensor;
}

// Defined by the contract's shim.cpp; may throw: the message becomes the case's outcome.
void run_case(ShimCase& c);
