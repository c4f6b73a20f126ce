// SPDX-License-Identifier: MIT
// runtime.context: the types every part shares: views, rows, errors, memory, and the vector type all kernels use.
#pragma once
#include <sys/mman.h>
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
enum class Device : uint8_t { host };

// Rows of `columns` contiguous elements; row_stride counts elements.
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

inline View f32_view(float* data /*[rows, columns]*/, int64_t columns) {
  return {data, columns, static_cast<int32_t>(columns), DType::f32, Device::host};
}
inline View vector_view(const std::vector<float>& values /*[1, columns]*/) {
  return f32_view(const_cast<float*>(values.data()), static_cast<int64_t>(values.size()));  // read only by contract
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

// Anonymous zeroed memory, committed when touched. Huge pages for what is streamed whole (weights); small ones
// for what is used sparsely (KV), where a huge page per head would cost far more than it holds.
class HostMemory {
 public:
  enum class Pages : uint8_t { small, huge };
  HostMemory(size_t bytes, Pages pages) : bytes_(std::max<size_t>(bytes, 1)) {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    constexpr size_t huge = size_t{2} << 20;
    const size_t mapped = bytes_ + huge;  // so that an aligned part of it is large enough
    void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) throw EngineError("out of memory: cannot map " + std::to_string(bytes_) + " bytes");
    char* aligned = static_cast<char*>(base) + (huge - reinterpret_cast<uintptr_t>(base) % huge) % huge;
    madvise(aligned, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    data_ = {aligned, [base, mapped](void*) { munmap(base, mapped); }};
  }
  template <typename T>
  T* as() const { return static_cast<T*>(data_.get()); }
  size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, std::function<void(void*)>> data_;
  size_t bytes_;
};

// Scratch matrices of one forward call, handed out in stack order: a Workspace::Scope gives back what was taken in it.
class Workspace {
 public:
  explicit Workspace(int64_t floats) : memory_(static_cast<size_t>(floats) * 4, HostMemory::Pages::huge) {}
  View take(int64_t rows, int64_t columns) {
    View view = f32_view(memory_.as<float>() + used_, columns);
    view.row_stride = round_up(columns, 16);
    used_ += rows * view.row_stride;
    if (static_cast<size_t>(used_) * 4 > memory_.bytes()) throw EngineError("scratch too small: an engine defect");
    return view;
  }
  void poison() { std::fill_n(memory_.as<float>(), memory_.bytes() / 4, NAN); }
  struct Scope {
    Workspace& workspace;
    const int64_t mark = workspace.used_;
    ~Scope() { workspace.used_ = mark; }
  };

 private:
  HostMemory memory_;
  int64_t used_ = 0;
};

class ThreadPool;
struct Context {
  ThreadPool& pool;
  Workspace& workspace;
};

// The vector type: config::vector_width f32 lanes. The same source is the wide and the portable version.
inline constexpr int lanes = config::vector_width;
typedef float vecf __attribute__((vector_size(4 * lanes)));
typedef int32_t veci __attribute__((vector_size(4 * lanes)));

inline vecf splat(float value) { return value - vecf{}; }
// The first `count` elements, zeros behind them: never touches memory past them.
inline vecf load(const float* from, int64_t count = lanes) {
  vecf value{};
  std::memcpy(&value, from, static_cast<size_t>(count) * 4);
  return value;
}
inline void store(float* to, vecf value, int64_t count = lanes) {
  std::memcpy(to, &value, static_cast<size_t>(count) * 4);
}
// Sum of the lanes, halves folded together: one fixed order.
inline float sum_lanes(vecf value) {
  for (int half = lanes / 2; half > 0; half /= 2) {
    veci other;
    for (int i = 0; i < lanes; ++i) other[i] = i ^ half;
    value += __builtin_shuffle(value, other);
  }
  return value[0];
}

// e^x within 2 ulp; exactly 0 below -87.3 (so for -inf), e^88 above 88. Cephes' polynomial on |r| <= ln2/2.
inline vecf exp_lanes(vecf x) {
  const vecf floored = x < splat(-87.3f) ? splat(-87.3f) : x;
  const vecf clamped = floored > splat(88.0f) ? splat(88.0f) : floored;
  const vecf shifted = clamped * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the addition rounds to a whole number
  const vecf n = shifted - 12582912.0f;
  const vecf r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;
  vecf p = (splat(1.9875691500e-4f) * r + 1.3981999507e-3f) * r + 8.3334519073e-3f;
  p = ((p * r + 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const veci power = (__builtin_convertvector(n, veci) + 127) << 23;
  return x < splat(-87.3f) ? vecf{} : p * vecf(power);
}
