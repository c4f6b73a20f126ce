// SPDX-License-Identifier: MIT
// Host emulation of cuda.instructions: takes the place of an engine's header of this name.
#pragma once
#include <cuda_runtime.h>
#include <cstdint>

namespace cuda_emulation {

typedef float Columns __attribute__((vector_size(32)));

inline float lower_bf16(uint32_t pair) { return std::bit_cast<float>(pair << 16); }
inline float upper_bf16(uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }

// d += a b for all lanes of a warp. The products are exact in f32; they are added one after the other in order of k.
inline void multiply_fragments(Block&, Warp& warp) {
  constexpr int rows = 16, depth = 16;
  float a[depth][rows];
  Columns b[depth], d[rows];
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4 * 2;
    const ProductOperands& from = warp.products[lane];
    for (int i = 0; i < 4; ++i) {
      const int row = g + i % 2 * 8, k = t + i / 2 * 8;
      a[k][row] = lower_bf16(from.a[i]);
      a[k + 1][row] = upper_bf16(from.a[i]);
      d[g + i / 2 * 8][t + i % 2] = from.d[i];
    }
    for (int i = 0; i < 2; ++i) {
      b[t + i * 8][g] = lower_bf16(from.b[i]);
      b[t + i * 8 + 1][g] = upper_bf16(from.b[i]);
    }
  }
  // Two rows at once: each is one chain of additions.
  for (int row = 0; row < rows; row += 2) {
    Columns first = d[row], second = d[row + 1];
    for (int k = 0; k < depth; ++k) {
      first += a[k][row] * b[k];
      second += a[k][row + 1] * b[k];
    }
    d[row] = first;
    d[row + 1] = second;
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) warp.products[lane].d[i] = d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

}  // namespace cuda_emulation

// d[16, 8] += a[16, 16] b[16, 8] in bf16 with f32 sums; one call of all 32 lanes of a warp. Two bf16 of a register: the
// lower half is the first. With g = lane / 4, t = lane % 4:
//   a[0] = A[g][2t, 2t+1]  a[1] = A[g+8][2t, 2t+1]  a[2] = A[g][2t+8, 2t+9]  a[3] = A[g+8][2t+8, 2t+9]
//   b[0] = B[2t, 2t+1][g]  b[1] = B[2t+8, 2t+9][g]
//   d[0] = D[g][2t]  d[1] = D[g][2t+1]  d[2] = D[g+8][2t]  d[3] = D[g+8][2t+1]
inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], CUDA_EMULATION_LINE) {
  cuda_emulation::Warp& warp = cuda_emulation::current.block->warp();
  warp.products[cuda_emulation::current.thread->lane] = {d, a, b};
  warp.finish = cuda_emulation::multiply_fragments;
  cuda_emulation::wait_for_warp({"mma_bf16", file, line});
}

// 16 bytes that are read once and change no more while the kernel runs.
inline uint4 load_once(const uint4* from /*16-byte aligned*/) {
  cuda_emulation::require_alignment(from, "load_once of an address that isn't 16-byte aligned");
  return *from;
}
