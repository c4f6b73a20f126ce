// SPDX-License-Identifier: MIT
// What a GPU can do, measured by the harness: read and copy bandwidth and the rate of bf16 tensor-core products with
// f32 sums, with device events; and the second-level cache emptied of what an engine left there. Two uses:
//   cuda-ceilings rates SECONDS_PER_MEASUREMENT WORKING_SET_BYTES...   prints one JSON object
//   cuda-ceilings clear   answers each line of stdin with a line once the cache is cleared; ends with stdin
// A sample is as many passes as last about 10 ms; best and mean over the samples are printed.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace {

constexpr int threads_per_block = 256;
constexpr int products_per_loop = 8;  // independent sums, so that the latency of one product hides behind the others
constexpr int loops = 1024;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

struct Rates {
  double best, mean;
};

struct Device {
  cudaDeviceProp properties{};
  cudaEvent_t begin{}, end{};

  Device() {
    check(cudaGetDeviceProperties(&properties, 0), "device 0");
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
  }
  // Seconds of the device from the first of these launches to the end of the last.
  double time(int repeats, const std::function<void()>& launch) const {
    check(cudaEventRecord(begin), "event");
    for (int i = 0; i < repeats; ++i) launch();
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "measurement");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    return milliseconds * 1e-3;
  }
  // Units per second of a launch that amounts to `units`.
  Rates measure(double seconds, double units, const std::function<void()>& launch) const {
    time(1, launch);
    const double once = std::max(1e-6, time(3, launch) / 3);
    const int repeats = static_cast<int>(std::clamp(0.01 / once, 1.0, 10000.0));
    double best = 0, total = 0;
    int samples = 0;
    while (total < seconds || samples < 3) {
      const double took = time(repeats, launch);
      best = std::max(best, repeats * units / took);
      total += took;
      ++samples;
    }
    return {best, samples * (repeats * units) / total};
  }
  int blocks() const { return properties.multiProcessorCount * 8; }
};

__global__ void read_kernel(const uint4* from, size_t count, uint32_t* sink) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
  // Four loads on their way at a time.
  for (; at + 3 * stride < count; at += 4 * stride) {
    const uint4 a = from[at], b = from[at + stride], c = from[at + 2 * stride], d = from[at + 3 * stride];
    sum += a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  for (; at < count; at += stride) sum += from[at].x ^ from[at].y ^ from[at].z ^ from[at].w;
  // Never so, which the compiler can't know.
  if (sum == 0x9e3779b9u) *sink = sum;
}

__global__ void copy_kernel(const uint4* from, uint4* to, size_t count) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride)
    to[at] = from[at];
}

// [16, 8] += [16, 16] [16, 8] in bf16, on values that are nowhere in memory.
__global__ void product_kernel(float* sink) {
  float sums[products_per_loop][4] = {};
  const uint32_t a = 0x3f803f80u + threadIdx.x, b = 0x3f803f80u;
  for (int loop = 0; loop < loops; ++loop) {
#pragma unroll
    for (int i = 0; i < products_per_loop; ++i) {
      float(&d)[4] = sums[i];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a), "r"(a), "r"(a), "r"(a), "r"(b), "r"(b));
    }
  }
  float sum = 0;
  for (int i = 0; i < products_per_loop; ++i) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
  if (sum == -1.0f) *sink = sum;
}

void print_rates(double seconds, int count, char** sizes) {
  const Device device;
  size_t most = 1 << 20;
  for (int i = 0; i < count; ++i) most = std::max(most, static_cast<size_t>(std::atoll(sizes[i])));
  most = (most + 31) / 32 * 32;
  char* memory = nullptr;
  uint32_t* sink = nullptr;
  check(cudaMalloc(&memory, most), "memory of the largest working set");
  check(cudaMalloc(&sink, 4), "memory");
  check(cudaMemset(memory, 1, most), "memset");
  const auto* words = reinterpret_cast<const uint4*>(memory);
  std::printf("{\"read\":[");
  for (int i = 0; i < count; ++i) {
    const size_t bytes = std::max<size_t>(32, static_cast<size_t>(std::atoll(sizes[i])) / 16 * 16);
    const Rates rates = device.measure(seconds, static_cast<double>(bytes), [&] {
      read_kernel<<<device.blocks(), threads_per_block>>>(words, bytes / 16, sink);
    });
    std::printf("%s{\"working_set_bytes\":%zu,\"best_bytes_per_second\":%.6g,\"mean_bytes_per_second\":%.6g}",
                i == 0 ? "" : ",", bytes, rates.best, rates.mean);
  }
  const size_t half = most / 32;
  // What is read and what is written both count.
  const Rates copy = device.measure(seconds, 32.0 * half, [&] {
    copy_kernel<<<device.blocks(), threads_per_block>>>(words, reinterpret_cast<uint4*>(memory) + half, half);
  });
  const double flops =
      2.0 * 16 * 8 * 16 * products_per_loop * loops * device.blocks() * (threads_per_block / 32.0);
  const Rates products = device.measure(seconds, flops, [&] {
    product_kernel<<<device.blocks(), threads_per_block>>>(reinterpret_cast<float*>(sink));
  });
  std::printf("],\"copy_bytes_per_second\":%.6g,\"best_flops_per_second\":%.6g,\"mean_flops_per_second\":%.6g}\n",
              copy.best, products.best, products.mean);
}

// Writes four times the second-level cache: whatever an engine left there is gone.
void serve_clearing() {
  const Device device;
  const size_t bytes = std::max<size_t>(size_t{4} * static_cast<size_t>(device.properties.l2CacheSize), size_t{1} << 26);
  char* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "memory of four times the second-level cache");
  int value = 0;
  for (int next = std::getchar(); next != EOF; next = std::getchar()) {
    if (next != '\n') continue;
    check(cudaMemset(memory, ++value & 255, bytes), "clearing");
    check(cudaDeviceSynchronize(), "clearing");
    std::printf("cleared\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count >= 4 && std::strcmp(arguments[1], "rates") == 0) {
    print_rates(std::atof(arguments[2]), count - 3, arguments + 3);
    return 0;
  }
  if (count == 2 && std::strcmp(arguments[1], "clear") == 0) {
    serve_clearing();
    return 0;
  }
  std::fprintf(stderr, "usage: %s rates SECONDS BYTES... | clear\n", arguments[0]);
  return 2;
}
