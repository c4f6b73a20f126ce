#include "scale.h"
#include <cuda_runtime.h>
#include "cuda_instructions.h"

namespace {

constexpr int threads = 64;

template <int values_per_thread>
__global__ void __launch_bounds__(threads) scale_kernel(float* values, int count, float factor) {
  __shared__ float tile[threads * values_per_thread];
  const int begin = static_cast<int>(threadIdx.x) * values_per_thread;
  if (begin < count) {
    const uint4 loaded = load_once(reinterpret_cast<const uint4*>(values + begin));
    tile[begin] = __uint_as_float(loaded.x);
    tile[begin + 1] = __uint_as_float(loaded.y);
    tile[begin + 2] = __uint_as_float(loaded.z);
    tile[begin + 3] = __uint_as_float(loaded.w);
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < values_per_thread; ++step) {
    const int at = static_cast<int>(threadIdx.x) + step * threads;
    if (at < count) values[at] = tile[at] * factor;
  }
}

cudaError_t run(float* values, int count, float factor) {
  float* on_device = nullptr;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  cudaError_t status = cudaMalloc(reinterpret_cast<void**>(&on_device), bytes);
  if (status != cudaSuccess) return status;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(threads);
  config.stream = cudaStreamPerThread;
  status = cudaMemcpyAsync(on_device, values, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread);
  if (status == cudaSuccess) status = cudaLaunchKernelEx(&config, scale_kernel<4>, on_device, count, factor);
  if (status == cudaSuccess)
    status = cudaMemcpyAsync(values, on_device, bytes, cudaMemcpyDeviceToHost, cudaStreamPerThread);
  if (status == cudaSuccess) status = cudaStreamSynchronize(cudaStreamPerThread);
  cudaFree(on_device);
  return status;
}

}  // namespace

std::string scale(float* values, int count, float factor) {
  const cudaError_t status = run(values, count, factor);
  return status == cudaSuccess ? "" : cudaGetErrorString(status);
}
