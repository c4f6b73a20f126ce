// SPDX-License-Identifier: MIT
// What the programs of these tests share: launches, checked calls, and cases that are chosen by name.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

inline void expect(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("not so: %s\n", what);
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition)
#define CHECK(call) expect((call) == cudaSuccess, #call)

template <typename... Parameters, typename... Arguments>
cudaError_t try_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = cudaStreamPerThread;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  CHECK(try_launch(kernel, grid, block, arguments...));
}
inline void synchronize() { CHECK(cudaStreamSynchronize(cudaStreamPerThread)); }

template <typename Value>
Value* allocate(size_t count) {
  Value* memory;
  CHECK(cudaMalloc(&memory, count * sizeof(Value)));
  return memory;
}
template <typename Value>
std::vector<Value> copy_out(const Value* from, size_t count) {
  std::vector<Value> values(count);
  CHECK(cudaMemcpyAsync(values.data(), from, count * sizeof(Value), cudaMemcpyDeviceToHost, cudaStreamPerThread));
  synchronize();
  return values;
}
template <typename Value>
Value* copy_in(const std::vector<Value>& values) {
  Value* memory = allocate<Value>(values.size());
  CHECK(cudaMemcpyAsync(memory, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice, cudaStreamPerThread));
  synchronize();
  return memory;
}

struct Case {
  const char* name;
  void (*run)();
};

// Runs the case that the command line names, then says that it came to its end.
template <size_t count>
int run_case(int argc, char** argv, const Case (&cases)[count]) {
  for (const Case& each : cases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    each.run();
    std::printf("done\n");
    return 0;
  }
  std::printf("no such case\n");
  return 2;
}
