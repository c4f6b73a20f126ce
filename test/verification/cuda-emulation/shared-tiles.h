// SPDX-License-Identifier: MIT
// One template kernel that two units instantiate, for the same size and for one of their own.
#pragma once
#include "emulated-test.h"

template <int columns>
__device__ float sum_tile(const float (&tile)[32][columns]) {
  __shared__ float sums[32];
  float sum = 0;
  for (int column = 0; column < columns; ++column) sum += tile[threadIdx.x][column];
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int row = 0; row < 32; ++row) sum += sums[row];
  return sum;
}

template <int columns>
__global__ void fill_tiles(float* out) {
  __shared__ float tile[32][columns];
  for (int column = 0; column < columns; ++column) tile[threadIdx.x][column] = static_cast<float>(column + 1);
  __syncthreads();
  const float sum = sum_tile(tile);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Sums for 7 columns and for others.
using Fill = int (*)(float* shared_size, float* own_size);
int fill_first_tiles(float* shared_size, float* own_size);
int fill_second_tiles(float* shared_size, float* own_size);

inline void expect_tiles(Fill fill) {
  float *shared_size = allocate<float>(5), *own_size = allocate<float>(5);
  const int columns = fill(shared_size, own_size);
  for (const float sum : copy_out(shared_size, 5)) EXPECT(sum == 32 * 28.0f);
  const float own = static_cast<float>(32 * columns * (columns + 1) / 2);
  for (const float sum : copy_out(own_size, 5)) EXPECT(sum == own);
}
