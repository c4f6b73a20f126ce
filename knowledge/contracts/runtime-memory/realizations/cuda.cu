// SPDX-License-Identifier: MIT
// runtime.memory, CUDA: plain allocations of the first device, zeroed; copies and poison in the engine's stream. Any
// CUDA device; exact.
// applies: hardware.platform=cuda
// requires: runtime.cuda
#include "runtime_memory.h"
#include "runtime_cuda.h"

// What the device is called and how much memory it has.
static std::string describe_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0)
    throw EngineError(std::string("no CUDA device: ") + (devices == 0 ? "none found" : cudaGetErrorString(status)));
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cannot ask the CUDA device");
  return std::string(properties.name) + " has " + std::to_string(properties.totalGlobalMem) + " bytes in all";
}

Memory::Memory(size_t bytes, Pages) : bytes_(std::max<size_t>(bytes, 1)) {
  static const std::string device = describe_device();
  void* base = nullptr;
  const cudaError_t status = cudaMalloc(&base, bytes_);
  if (status != cudaSuccess)
    throw EngineError("out of memory: cannot allocate " + std::to_string(bytes_) + " bytes on the GPU (" +
                      cudaGetErrorString(status) + "); " + device);
  data_ = {base, [](void* held) { ignore_cuda(cudaFree(held)); }};
  check_cuda(cudaMemsetAsync(base, 0, bytes_, engine_stream()), "cannot clear memory");
  check_cuda(cudaStreamSynchronize(engine_stream()), "cannot clear memory");
}

void copy_memory(void* to, const void* from, size_t bytes) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, engine_stream()), "cannot copy");
  check_cuda(cudaStreamSynchronize(engine_stream()), "cannot finish what was started");
}

// All bits set is a NaN.
void fill_nan(const Memory& memory) {
  check_cuda(cudaMemsetAsync(memory.as<void>(), 0xff, memory.bytes(), engine_stream()), "cannot poison memory");
}
