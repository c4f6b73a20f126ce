// SPDX-License-Identifier: MIT
// cuda.instructions: what CUDA C++ has no words for: one tensor-core product, one streaming load.
#pragma once
#include <cuda_runtime.h>
#include <cstdint>

// d[16, 8] += a[16, 16] b[16, 8] in bf16 with f32 sums; one call of all 32 lanes of a warp. Two bf16 of a register: the
// lower half is the first. With g = lane / 4, t = lane % 4:
//   a[0] = A[g][2t, 2t+1]  a[1] = A[g+8][2t, 2t+1]  a[2] = A[g][2t+8, 2t+9]  a[3] = A[g+8][2t+8, 2t+9]
//   b[0] = B[2t, 2t+1][g]  b[1] = B[2t+8, 2t+9][g]
//   d[0] = D[g][2t]  d[1] = D[g][2t+1]  d[2] = D[g+8][2t]  d[3] = D[g+8][2t+1]
__device__ inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 16 bytes that are read once and change no more while the kernel runs: past L1, which then keeps what is read again.
__device__ inline uint4 load_once(const uint4* from /*16-byte aligned*/) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
}
