// SPDX-License-Identifier: MIT
// runtime.context: the types every part shares: views, rows, errors, and what a call may use.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include "config.h"

enum class DType : uint8_t { f32, bf16, f16 };
enum class Device : uint8_t { host, gpu };
// Where the tensors of this engine lie: everything but what a function calls host memory.
inline constexpr Device engine_device = config::on_device ? Device::gpu : Device::host;

// Rows of `columns` contiguous elements; row_stride counts elements. Only code of its device may touch the data.
struct View {
  void* data;
  int64_t row_stride;
  int32_t columns;
  DType dtype;
  Device device;
  float* row(int64_t index) const { return static_cast<float*>(data) + index * row_stride; }
  // Columns [first, first + count) of the same rows.
  View slice(int64_t first, int32_t count) const { return {row(0) + first, row_stride, count, dtype, device}; }
};

inline View f32_view(float* data /*[rows, columns]*/, int64_t columns, Device device = engine_device) {
  return {data, columns, static_cast<int32_t>(columns), DType::f32, device};
}

constexpr int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// What a person can act on: the message names the file, tensor, key or argument.
struct EngineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One token of one sequence: KV slot and position it is written to.
struct Row {
  int32_t token, slot, position;
};

class ThreadPool;
class Workspace;
struct Context {
  ThreadPool& pool;
  Workspace& workspace;
};
