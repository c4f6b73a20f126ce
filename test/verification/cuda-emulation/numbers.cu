// SPDX-License-Identifier: MIT
// Conversions over every f16 and bf16, and the product of a warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "cuda_instructions.h"
#include "emulated-test.h"

namespace {

// value = (-1)^sign 2^(exponent - bias) 1.fraction, as the formats are defined.
double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(static_cast<double>(bits & ((1u << fraction_bits) - 1)), -fraction_bits);
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return bits >> 15 ? -size : size;
}

// Every finite value comes back; halfway to the next goes to the even one; a step to either side goes to that side.
void expect_rounding(unsigned (*to_bits)(float), int exponent_bits, int fraction_bits) {
  const unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  for (unsigned bits = 0; bits < infinity; ++bits) {
    for (const unsigned sign : {0u, 0x8000u}) {
      const double here = value_of(bits | sign, exponent_bits, fraction_bits);
      // The value that would come after the last finite one stands for infinity.
      const double next = value_of(bits + 1 == infinity ? bits | sign : (bits + 1) | sign, exponent_bits, fraction_bits);
      const double before = value_of((bits == 0 ? 0 : bits - 1) | sign, exponent_bits, fraction_bits);
      const float halfway = static_cast<float>(here + (bits + 1 == infinity ? (here - before) / 2 : (next - here) / 2));
      EXPECT(to_bits(static_cast<float>(here)) == (bits | sign));
      EXPECT(to_bits(halfway) == ((bits + (bits & 1)) | sign));
      EXPECT(to_bits(std::nextafterf(halfway, 0.0f)) == (bits | sign));
      EXPECT(to_bits(std::nextafterf(halfway, sign ? -INFINITY : INFINITY)) == ((bits + 1) | sign));
    }
  }
  EXPECT(to_bits(INFINITY) == infinity);
  EXPECT(to_bits(-INFINITY) == (infinity | 0x8000));
  for (const unsigned nan : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0xffffffffu, 0x7fffffffu})
    EXPECT(to_bits(__uint_as_float(nan)) == 0x7fff);
}

void expect_values(float (*to_float)(unsigned), int exponent_bits, int fraction_bits) {
  const unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(bits);
    const unsigned size = bits & 0x7fff;
    if (size > infinity) {
      EXPECT(std::isnan(value));
    } else if (size == infinity) {
      EXPECT(value == (bits >> 15 ? -INFINITY : INFINITY));
    } else {
      EXPECT(value == value_of(bits, exponent_bits, fraction_bits) && std::signbit(value) == (bits >> 15 == 1));
    }
  }
}

unsigned half_bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
unsigned bfloat_bits(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
float half_value(unsigned bits) { return __half2float(__ushort_as_half(static_cast<unsigned short>(bits))); }
float bfloat_value(unsigned bits) { return __bfloat162float(__ushort_as_bfloat16(static_cast<unsigned short>(bits))); }

void conversions() {
  expect_values(half_value, 5, 10);
  expect_values(bfloat_value, 8, 7);
  expect_rounding(half_bits, 5, 10);
  expect_rounding(bfloat_bits, 8, 7);
}

struct Registers {
  float d[4];
  uint32_t a[4], b[2];
};

__global__ void multiply(Registers* registers) {
  Registers& own = registers[blockIdx.x * blockDim.x + threadIdx.x];
  mma_bf16(own.d, own.a, own.b);
}

// Where the PTX manual says that an element lies, told from the element's side.
struct Fragments {
  std::vector<Registers> lanes = std::vector<Registers>(32);
  void put_a(int row, int k, float value) {
    put(lanes[static_cast<size_t>(row % 8 * 4 + k % 8 / 2)].a[row / 8 + k / 8 * 2], k, value);
  }
  void put_b(int k, int column, float value) {
    put(lanes[static_cast<size_t>(column * 4 + k % 8 / 2)].b[k / 8], k, value);
  }
  float& d(int row, int column) {
    return lanes[static_cast<size_t>(row % 8 * 4 + column / 2)].d[row / 8 * 2 + column % 2];
  }

 private:
  static void put(uint32_t& pair, int k, float value) {
    const uint32_t bits = bfloat_bits(value);
    pair = k % 2 == 0 ? (pair & 0xffff0000u) | bits : (pair & 0xffffu) | bits << 16;
  }
};

// Whole numbers and quarters: every sum is exact, whatever its order.
float small_value() { return static_cast<float>(std::rand() % 255 - 127) / 4; }

void product() {
  std::srand(7);
  for (int trial = 0; trial < 6; ++trial) {
    float a[16][16], b[16][8], d[16][8];
    Fragments fragments;
    for (int row = 0; row < 16; ++row)
      for (int k = 0; k < 16; ++k) fragments.put_a(row, k, a[row][k] = small_value());
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 8; ++column) fragments.put_b(k, column, b[k][column] = small_value());
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) fragments.d(row, column) = d[row][column] = small_value();
    // Two warps in a block, both with the same operands.
    std::vector<Registers> twice = fragments.lanes;
    twice.insert(twice.end(), fragments.lanes.begin(), fragments.lanes.end());
    Registers* registers = copy_in(twice);
    launch(multiply, 1, 64, registers);
    twice = copy_out(registers, 64);
    for (size_t warp = 0; warp < 2; ++warp) {
      std::copy_n(twice.begin() + static_cast<long>(warp) * 32, 32, fragments.lanes.begin());
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
          float sum = d[row][column];
          for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
          EXPECT(fragments.d(row, column) == sum);
        }
    }
  }
}

// What a lane holds of NaN stays in its row and its column.
void product_of_nan() {
  Fragments fragments;
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k) fragments.put_a(row, k, row == 5 && k == 3 ? NAN : 1.0f);
  for (int k = 0; k < 16; ++k)
    for (int column = 0; column < 8; ++column) fragments.put_b(k, column, column == 2 && k == 9 ? NAN : 1.0f);
  Registers* registers = copy_in(fragments.lanes);
  launch(multiply, 1, 32, registers);
  fragments.lanes = copy_out(registers, 32);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      EXPECT(std::isnan(fragments.d(row, column)) == (row == 5 || column == 2));
      if (row != 5 && column != 2) EXPECT(fragments.d(row, column) == 16.0f);
    }
}

__global__ void calculate(float* out, const float* in, const uint4* words) {
  const float x = __ldg(in + threadIdx.x), y = x + 2;
  const float4 all = make_float4(fmaf(x, y, 1.0f), fmaxf(x, y), fminf(x, y), sqrtf(y));
  reinterpret_cast<float4*>(out)[threadIdx.x * 2] = all;
  const uint4 loaded = load_once(words);
  const float2 pair = make_float2(rsqrtf(y), __fdividef(x, y));
  reinterpret_cast<float4*>(out)[threadIdx.x * 2 + 1] =
      make_float4(pair.x, pair.y, expf(x) - __expf(x), __uint_as_float(loaded.z) + __int_as_float(0x3f800000));
}
void arithmetic() {
  std::vector<float> in(32);
  for (size_t i = 0; i < 32; ++i) in[i] = static_cast<float>(i) * 0.5f - 1.0f;
  float* out = allocate<float>(32 * 8);
  launch(calculate, 1, 32, out, copy_in(in), copy_in(std::vector<uint4>{make_uint4(1, 2, __float_as_uint(3.0f), 4)}));
  const std::vector<float> values = copy_out(out, 32 * 8);
  for (size_t i = 0; i < 32; ++i) {
    const float x = in[i], y = x + 2, *at = &values[i * 8];
    EXPECT(at[0] == std::fmaf(x, y, 1.0f) && at[1] == y && at[2] == x && at[3] == std::sqrt(y));
    EXPECT(std::fabs(at[4] * std::sqrt(y) - 1) < 1e-6f && at[5] == x / y && at[7] == 4.0f);
    EXPECT(std::fabs(at[6]) <= 2e-6f * std::exp(x));
  }
  EXPECT(__fdividef(1.0f, 0x1.8p126f) == 0.0f && min(3, 2u) == 2u && max(-1, 2) == 2 && max(1.0f, NAN) == 1.0f);
}

const Case cases[] = {{"conversions", conversions},
                      {"product", product},
                      {"product-of-nan", product_of_nan},
                      {"arithmetic", arithmetic}};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
