// SPDX-License-Identifier: MIT
// Host emulation: bf16 by CUDA's names. Rounds to nearest even; every NaN becomes 0x7FFF, as on a device.
#pragma once
#include <bit>
#include <cstdint>

struct __nv_bfloat16 {
  uint16_t bits;
};
using nv_bfloat16 = __nv_bfloat16;

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
