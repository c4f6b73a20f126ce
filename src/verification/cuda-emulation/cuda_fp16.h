// SPDX-License-Identifier: MIT
// Host emulation: f16 by CUDA's names. Rounds to nearest even, subnormals kept; every NaN becomes 0x7FFF, as on a
// device.
#pragma once
#include <bit>
#include <cstdint>

struct __half {
  uint16_t bits;
};
using half = __half;

inline float __half2float(__half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16, rest = value.bits & 0x7fff;
  if (rest > 0x7c00) return std::bit_cast<float>(0x7fffffffu);
  if (rest == 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u);
  // Subnormals are whole multiples of 2^-24.
  if (rest < 0x0400) return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24f));
  return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
}
inline __half __float2half_rn(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), size = bits & 0x7fffffffu;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (size > 0x7f800000u) return {0x7fff};
  if (size >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00)};  // from 65520 on: infinity
  // Below 2^-14 the sum's last bit is 2^-24, and the addition rounds to it.
  if (size < 0x38800000u) {
    const float sum = std::bit_cast<float>(size) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000u))};
  }
  const uint32_t rounded = size - (112u << 23) + 0xfffu + (size >> 13 & 1);
  return {static_cast<uint16_t>(sign | rounded >> 13)};
}
inline unsigned short __half_as_ushort(__half value) { return value.bits; }
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
