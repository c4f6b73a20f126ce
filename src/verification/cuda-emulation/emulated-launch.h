// SPDX-License-Identifier: MIT
// Launches, checked as a device checks them, and the device that this claims to be.
#pragma once
#include <algorithm>
#include <tuple>
#include <type_traits>

#include "emulated-copies.h"

namespace cuda_emulation {

inline uint64_t count_launch(const void* kernel) {
  static std::map<const void*, uint64_t>& launches = *new std::map<const void*, uint64_t>;  // device thread only
  return launches[kernel]++;
}

// The three orders in turn, but without a period: whatever comes regularly gets all of them.
inline Order order_of(uint64_t number) {
  uint64_t digits = 0;
  for (; number > 0; number /= 3) digits += number % 3;
  return static_cast<Order>(digits % 3);
}

// Each launch of a kernel runs its blocks, and each block its threads, in another order than the one before.
inline void run_grid(Block& block, const Kernel& kernel, const void* identity, dim3 grid, dim3 size) {
  prepare_block(block, kernel, grid, size);
  const uint64_t launch = count_launch(identity), blocks = uint64_t{grid.x} * grid.y * grid.z;
  std::vector<uint64_t> order(blocks);
  arrange(order.data(), order.size(), order_of(launch), launch);
  for (uint64_t done = 0; done < blocks; ++done) {
    const uint64_t b = order[done];
    const uint3 index{static_cast<unsigned>(b % grid.x), static_cast<unsigned>(b / grid.x % grid.y),
                      static_cast<unsigned>(b / grid.x / grid.y)};
    run_block(block, index, order_of(launch + done), launch + done);
  }
}

inline cudaError_t check_launch(const cudaLaunchConfig_t& config) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  if (config.stream != cudaStreamPerThread) return cudaErrorInvalidResourceHandle;
  if (config.dynamicSmemBytes != 0) return cudaErrorNotSupported;
  const bool is_empty = std::min({grid.x, grid.y, grid.z, block.x, block.y, block.z}) == 0;
  if (is_empty || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) return cudaErrorInvalidConfiguration;
  if (block.x > 1024 || block.y > 1024 || block.z > 64) return cudaErrorInvalidConfiguration;
  return block.x * block.y * block.z > 1024 ? cudaErrorInvalidConfiguration : cudaSuccess;
}

// Whether something of this process lies there that isn't device or pinned memory. One byte behind an allocation isn't
// meant: an empty range begins there.
inline bool is_host_address(uintptr_t address) {
  // Programs, heaps, mappings and stacks of 64-bit Linux lie above; small numbers in a structure lie below.
  constexpr uintptr_t lowest = 0x550000000000, highest = 0x7fffffffffff;
  if (sizeof(void*) != 8 || address < lowest || address > highest) return false;
  for (const uintptr_t at : {address, address - 1})
    if (allocations().find(reinterpret_cast<const void*>(at), 0) != Place::host) return false;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), page, MS_ASYNC) == 0;
}

// Kernels can't follow a host pointer: an argument that is one, or holds one, is an error.
template <typename Argument>
bool holds_host_address(const Argument& argument) {
  if constexpr (sizeof(Argument) < sizeof(uintptr_t)) return false;
  // Padding holds what lay there before: beside a small number that can look like an address.
  Argument plain = argument;
  __builtin_clear_padding(&plain);
  for (size_t at = 0; at + sizeof(uintptr_t) <= sizeof(Argument); at += sizeof(uintptr_t)) {
    uintptr_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(&plain) + at, sizeof word);
    if (is_host_address(word)) return true;
  }
  return false;
}

}  // namespace cuda_emulation

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  using namespace cuda_emulation;
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "a kernel's arguments are copied as bytes");
  using Call = std::tuple<void (*)(Parameters...), Parameters...>;
  Stream& own = own_stream();
  if (kernel == nullptr) return own.ended(cudaErrorInvalidDeviceFunction);
  const cudaError_t status = check_launch(*config);
  if (status != cudaSuccess) return own.ended(status);
  const Call call(kernel, std::forward<Arguments>(arguments)...);
  if (std::apply([](auto, const auto&... values) { return (holds_host_address(values) || ...); }, call)) {
    std::fprintf(stderr, "cuda emulation: a kernel's argument points to host memory\n");
    return own.ended(cudaErrorInvalidValue);
  }
  const auto call_one = [](const void* call) {
    std::apply([](auto function, auto... values) { function(values...); }, *static_cast<const Call*>(call));
  };
  own.start([call, grid = config->gridDim, size = config->blockDim, call_one](Block& block) {
    run_grid(block, {call_one, &call}, reinterpret_cast<const void*>(std::get<0>(call)), grid, size);
    return cudaSuccess;
  });
  return cudaSuccess;
}

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  return cuda_emulation::own_stream().ended(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
// The figures of an H200, but for its memory, which is this machine's.
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return cuda_emulation::own_stream().ended(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "host emulation");
  properties->totalGlobalMem = cuda_emulation::physical_bytes();
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  std::copy_n(std::initializer_list<int>{1024, 1024, 64}.begin(), 3, properties->maxThreadsDim);
  std::copy_n(std::initializer_list<int>{0x7fffffff, 65535, 65535}.begin(), 3, properties->maxGridSize);
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->l2CacheSize = 50 << 20;
  properties->memoryBusWidth = 6144;
  return cudaSuccess;
}
