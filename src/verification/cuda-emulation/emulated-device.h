// SPDX-License-Identifier: MIT
// What kernels call: indices, barriers, shuffles, arithmetic.
#pragma once
#include <math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "emulated-block.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

inline constexpr int warpSize = 32;

// Every call knows the line that it stands in: threads that meet must have come to the same one.
#define CUDA_EMULATION_LINE int line = __builtin_LINE(), const char *file = __builtin_FILE()

inline void __syncthreads(CUDA_EMULATION_LINE) { cuda_emulation::wait_for_block({"__syncthreads", file, line}); }
inline void __syncwarp(CUDA_EMULATION_LINE) { cuda_emulation::wait_for_warp({"__syncwarp", file, line}); }

namespace cuda_emulation {

inline void require_all_lanes(unsigned mask) {
  if (mask != 0xffffffffu) give_up("a shuffle whose mask isn't all 32 lanes: not emulated");
}

// The value of lane `source`, once all lanes have come.
template <typename Value>
Value read_lane(Value value, unsigned source, const Site& site) {
  static_assert(std::is_arithmetic_v<Value> && sizeof(Value) >= 4, "shuffles move 4 or 8 bytes");
  Warp& warp = current.block->warp();
  uint64_t* values = warp.values[warp.round & 1];
  std::memcpy(&values[current.thread->lane], &value, sizeof value);
  wait_for_warp(site);
  std::memcpy(&value, &values[source], sizeof value);
  return value;
}

template <typename Pointer>
void require_alignment(const Pointer* pointer, const char* what) {
  if (reinterpret_cast<uintptr_t>(pointer) % alignof(Pointer) != 0) give_up(what);
}

inline float reciprocal_root(float x) { return 1.0f / sqrtf(x); }
// As the device: 2^(x log2 e), less exact than expf.
inline float fast_exponential(float x) { return exp2f(x * 1.4426950408889634f); }

}  // namespace cuda_emulation

template <typename Value>
Value __shfl_xor_sync(unsigned mask, Value value, int lane_mask, int width = 32, CUDA_EMULATION_LINE) {
  cuda_emulation::require_all_lanes(mask);
  const unsigned own = cuda_emulation::current.thread->lane, size = static_cast<unsigned>(width);
  const unsigned source = (own ^ static_cast<unsigned>(lane_mask)) % 32;
  // A later group's lane isn't read; an earlier one's is.
  const unsigned from = source >= (own / size + 1) * size ? own : source;
  return cuda_emulation::read_lane(value, from, {"__shfl_xor_sync", file, line});
}
template <typename Value>
Value __shfl_sync(unsigned mask, Value value, int source, int width = 32, CUDA_EMULATION_LINE) {
  cuda_emulation::require_all_lanes(mask);
  const unsigned own = cuda_emulation::current.thread->lane, size = static_cast<unsigned>(width);
  const unsigned from = own / size * size + static_cast<unsigned>(source) % size;
  return cuda_emulation::read_lane(value, from, {"__shfl_sync", file, line});
}
template <typename Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned distance, int width = 32, CUDA_EMULATION_LINE) {
  cuda_emulation::require_all_lanes(mask);
  const unsigned own = cuda_emulation::current.thread->lane, size = static_cast<unsigned>(width);
  const unsigned from = own % size + distance < size ? own + distance : own;
  return cuda_emulation::read_lane(value, from, {"__shfl_down_sync", file, line});
}

template <typename Value>
Value __ldg(const Value* from) {
  cuda_emulation::require_alignment(from, "__ldg of an address that isn't aligned to the value's size");
  return *from;
}

// Macros where the C library's headers have functions of these names.
#define rsqrtf(x) ::cuda_emulation::reciprocal_root(x)
#define __expf(x) ::cuda_emulation::fast_exponential(x)
// As the device: 0 where y is beyond 2^126.
inline float __fdividef(float x, float y) {
  return fabsf(y) > 0x1p126f && std::isfinite(y) ? x * 0.0f : x / y;
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }

// CUDA's overloads: equal types, signed with unsigned of one width (as unsigned), float with double.
#define CUDA_EMULATION_SMALLER_LARGER(Result, First, Second)                                  \
  inline Result min(First a, Second b) {                                                      \
    return std::min(static_cast<Result>(a), static_cast<Result>(b));                          \
  }                                                                                           \
  inline Result max(First a, Second b) {                                                      \
    return std::max(static_cast<Result>(a), static_cast<Result>(b));                          \
  }
#define CUDA_EMULATION_INTEGERS(Type)                           \
  CUDA_EMULATION_SMALLER_LARGER(Type, Type, Type)               \
  CUDA_EMULATION_SMALLER_LARGER(unsigned Type, unsigned Type, unsigned Type) \
  CUDA_EMULATION_SMALLER_LARGER(unsigned Type, Type, unsigned Type)          \
  CUDA_EMULATION_SMALLER_LARGER(unsigned Type, unsigned Type, Type)
CUDA_EMULATION_INTEGERS(int)
CUDA_EMULATION_INTEGERS(long)
CUDA_EMULATION_INTEGERS(long long)
#undef CUDA_EMULATION_INTEGERS
#undef CUDA_EMULATION_SMALLER_LARGER
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
