// SPDX-License-Identifier: MIT
// Barriers, shuffles and shared memory of emulated blocks, and what must not pass.
#include "emulated-test.h"
#include "shared-tiles.h"

namespace {

constexpr int block = 128;

// Rounds of: everybody writes a value, reads another's. Either barrier may be left out.
template <bool is_read_safe, bool is_overwrite_safe>
__global__ void __launch_bounds__(block) rotate(float* out, int shift, int rounds) {
  __shared__ float values[block];
  const int t = static_cast<int>(threadIdx.x), all = static_cast<int>(gridDim.x) * block;
  for (int round = 0; round < rounds; ++round) {
    values[t] = static_cast<float>(round * block + t);
    if constexpr (is_read_safe) __syncthreads();
    out[round * all + static_cast<int>(blockIdx.x) * block + t] = values[(t + shift) % block];
    if constexpr (is_overwrite_safe) __syncthreads();
  }
}

// The same within a warp.
template <bool is_safe>
__global__ void rotate_lanes(float* out, int shift, int) {
  __shared__ float values[block];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  values[t] = static_cast<float>(t);
  if constexpr (is_safe) __syncwarp();
  out[static_cast<int>(blockIdx.x) * block + t] = values[t - lane + (lane + shift) % 32];
}

using Rotation = void (*)(float*, int, int);

int count_wrong(Rotation kernel, int blocks, int shift, int rounds, int modulus) {
  const int all = blocks * block;
  float* out = allocate<float>(static_cast<size_t>(all * rounds));
  launch(kernel, blocks, block, out, shift, rounds);
  const std::vector<float> values = copy_out(out, static_cast<size_t>(all * rounds));
  CHECK(cudaFree(out));
  int wrong = 0;
  for (int i = 0; i < all * rounds; ++i) {
    const int t = i % block, from = t / modulus * modulus + (t % modulus + shift) % modulus;
    if (values[static_cast<size_t>(i)] != static_cast<float>(i / all * block + from)) ++wrong;
  }
  return wrong;
}

// However the values travel, and wherever in a series of launches it stands: three launches, or three blocks, show it.
void expect_found(Rotation right, Rotation faulty, int rounds, int modulus, std::initializer_list<int> shifts) {
  for (const int shift : shifts) {
    int one_block = 0;
    for (int launched = 0; launched < 3; ++launched) {
      EXPECT(count_wrong(right, 1, shift, rounds, modulus) == 0);
      one_block += count_wrong(faulty, 1, shift, rounds, modulus);
    }
    EXPECT(one_block > 0);
    EXPECT(count_wrong(right, 5, shift, rounds, modulus) == 0);
    EXPECT(count_wrong(faulty, 3, shift, rounds, modulus) > 0);
  }
}

void missing_write_read() {
  expect_found(rotate<true, true>, rotate<false, true>, 1, block, {1, 2, 31, 32, 64, 96, 127});
}
void missing_read_overwrite() {
  expect_found(rotate<true, true>, rotate<true, false>, 3, block, {1, 2, 31, 32, 64, 96, 127});
}
void missing_warp_barrier() { expect_found(rotate_lanes<true>, rotate_lanes<false>, 1, 32, {1, 2, 16, 31}); }

// Each block reads what its neighbour may have written: no order of blocks is promised.
__global__ void next_block(float* values) {
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  values[blockIdx.x] = values[next] + 1;
}
void dependent_blocks() {
  std::vector<std::vector<float>> results;
  for (int launched = 0; launched < 3; ++launched) {
    float* values = copy_in(std::vector<float>(8, 0.0f));
    launch(next_block, 8, 1, values);
    results.push_back(copy_out(values, 8));
  }
  EXPECT(results[0] != results[1] || results[1] != results[2]);
}

__global__ void shuffle(int* out) {
  const int lane = static_cast<int>(threadIdx.x % 32), all = static_cast<int>(blockDim.x), t = static_cast<int>(threadIdx.x);
  const int value = t * 10;
  out[t] = __shfl_xor_sync(0xffffffffu, value, 5);
  out[all + t] = __shfl_sync(0xffffffffu, value, (lane + 7) % 32);
  out[2 * all + t] = __shfl_down_sync(0xffffffffu, value, 3);
  out[3 * all + t] = __shfl_sync(0xffffffffu, value, 9, 8);
  out[4 * all + t] = __shfl_down_sync(0xffffffffu, value, 3, 8);
  const double wide = __shfl_xor_sync(0xffffffffu, static_cast<double>(value) + 0.5, 1);
  out[5 * all + t] = static_cast<int>(wide * 2);
}
void shuffles() {
  constexpr int all = 96;
  int* out = allocate<int>(6 * all);
  for (int launched = 0; launched < 3; ++launched) {
    launch(shuffle, 1, all, out);
    const std::vector<int> values = copy_out(out, 6 * all);
    for (int t = 0; t < all; ++t) {
      const int lane = t % 32, base = t - lane, group = t - t % 8;
      const auto at = [&](int row) { return values[static_cast<size_t>(row * all + t)]; };
      EXPECT(at(0) == (base + (lane ^ 5)) * 10);
      EXPECT(at(1) == (base + (lane + 7) % 32) * 10);
      EXPECT(at(2) == (lane + 3 < 32 ? t + 3 : t) * 10);
      EXPECT(at(3) == (group + 1) * 10);
      EXPECT(at(4) == (t % 8 + 3 < 8 ? t + 3 : t) * 10);
      EXPECT(at(5) == (t ^ 1) * 20 + 1);
    }
  }
}

__global__ void name_threads(int* out) {
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[b * blockDim.x * blockDim.y * blockDim.z + t] += static_cast<int>(b * 1000 + t);
}
void indices() {
  int* out = copy_in(std::vector<int>(24 * 210, 0));
  launch(name_threads, dim3(2, 3, 4), dim3(5, 6, 7), out);
  const std::vector<int> values = copy_out(out, 24 * 210);
  for (int i = 0; i < 24 * 210; ++i) EXPECT(values[static_cast<size_t>(i)] == i / 210 * 1000 + i % 210);
}

// Threads beyond the end leave early; the others' barrier doesn't wait for them.
__global__ void early_return(float* out, int count) {
  __shared__ float values[block];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= count) return;
  values[t] = static_cast<float>(t);
  __syncthreads();
  out[t] = values[count - 1 - t];
}
void ended_threads() {
  float* out = allocate<float>(block);
  for (int count = 1; count <= block; count += 13) {
    launch(early_return, 1, block, out, count);
    const std::vector<float> values = copy_out(out, block);
    for (int t = 0; t < count; ++t) EXPECT(values[static_cast<size_t>(t)] == static_cast<float>(count - 1 - t));
  }
}

__global__ void divergent_lines(float* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}
__global__ void barrier_in_warp(float* out) {
  if (threadIdx.x == 3) __syncthreads();
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
  __syncthreads();
}
__global__ void ended_lane(float* out) {
  if (threadIdx.x == 40) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}
__global__ void uneven_rounds(float* out) {
  for (unsigned i = 0; i <= threadIdx.x / 32; ++i) __syncthreads();
  if (threadIdx.x < 32) __syncthreads();
  out[threadIdx.x] = 0;
}
__global__ void part_of_warp(float* out) { out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, 1.0f, 1); }

template <void (*kernel)(float*)>
void run_faulty() {
  float* out = allocate<float>(64);
  launch(kernel, 1, 64, out);
  synchronize();
}
void small_block() {
  float* out = allocate<float>(64);
  launch(ended_lane, 1, 16, out);
  synchronize();
}

// Reads what no thread wrote, in a block that comes after one that wrote it.
__global__ void unwritten(unsigned* out) {
  __shared__ unsigned values[64];
  __shared__ unsigned short pairs[6];
  out[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x] + (pairs[threadIdx.x % 6] == 0xffff ? 0 : 1000);
  __syncthreads();
  values[threadIdx.x] = threadIdx.x;
  pairs[threadIdx.x % 6] = 5;
}
void poisoned_shared() {
  unsigned* out = allocate<unsigned>(64 * 4);
  launch(unwritten, 4, 64, out);
  for (const unsigned value : copy_out(out, 64 * 4)) EXPECT(value == 0xffffffffu);
}

void templates_and_units() {
  expect_tiles(fill_first_tiles);
  expect_tiles(fill_second_tiles);
}

const Case cases[] = {{"missing-write-read", missing_write_read},
                      {"missing-read-overwrite", missing_read_overwrite},
                      {"missing-warp-barrier", missing_warp_barrier},
                      {"dependent-blocks", dependent_blocks},
                      {"shuffles", shuffles},
                      {"indices", indices},
                      {"ended-threads", ended_threads},
                      {"poisoned-shared", poisoned_shared},
                      {"templates-and-units", templates_and_units},
                      {"divergent-lines", run_faulty<divergent_lines>},
                      {"barrier-in-warp", run_faulty<barrier_in_warp>},
                      {"ended-lane", run_faulty<ended_lane>},
                      {"uneven-rounds", run_faulty<uneven_rounds>},
                      {"part-of-warp", run_faulty<part_of_warp>},
                      {"small-block", small_block}};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
