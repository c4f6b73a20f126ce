// SPDX-License-Identifier: MIT
// runtime.cuda: the one stream of an engine, launches and calls that are checked, and sums over warp and block.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "cuda_instructions.h"
#include "runtime_context.h"

inline constexpr int warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

// EngineError that names what was tried.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw EngineError(std::string(what) + ": " + cudaGetErrorString(status));
}

// Where an object lets go of what it holds, and nobody can act on a failure any more.
inline void ignore_cuda(cudaError_t /*status*/) {}

// All work of an engine goes, in order, to this stream; it can be captured into a graph.
inline cudaStream_t engine_stream() { return cudaStreamPerThread; }

// Starts kernel<<<grid, block>>>(arguments...) on the engine's stream; nothing where the grid is empty.
template <typename... Parameters, typename... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = engine_stream();
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), what);
}

// Row `index` of a view, in device code (View::row is for the host).
__device__ inline float* row_of(View view, int64_t index) {
  return static_cast<float*>(view.data) + index * view.row_stride;
}

// The sum, or the largest, of a value over the 32 lanes, in one fixed order; every lane gets it.
__device__ inline float warp_sum(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}
__device__ inline float warp_max(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, distance));
  return value;
}
