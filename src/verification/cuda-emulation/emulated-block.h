// SPDX-License-Identifier: MIT
// One block: its threads are fibers of one OS thread. A warp runs until all its lanes wait or have ended, lane after
// lane in the block's order; then the next warp. Whatever a lane waits for must be what all others wait for.
#pragma once
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "emulated-fiber.h"
#include "emulated-shared.h"
#include "emulated-vectors.h"

namespace cuda_emulation {

inline constexpr unsigned lanes = 32, max_threads = 1024, max_warps = max_threads / lanes;

// Where a thread waits. Two waits are the same when they stand in the same line.
struct Site {
  const char* what;
  const char* file;
  int line;
};
inline bool is_same(const Site& a, const Site& b) {
  return a.line == b.line && (a.what == b.what || std::strcmp(a.what, b.what) == 0) &&
         (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

struct Thread {
  Fiber fiber;
  uint3 index;
  unsigned lane;
};

// What one lane gives to a product of its warp.
struct ProductOperands {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
};

// Sets of lanes have bit p for the lane that is p-th in the block's order.
struct Warp {
  uint32_t exists, ready, waiting, at_barrier;
  Site site;
  // Values of the rendezvous that comes and of the one before, which slower lanes still read.
  unsigned round;
  void (*finish)(Block&, Warp&);  // what the last lane's arrival sets off; may be null
  uint64_t values[2][lanes];
  ProductOperands products[lanes];
};

enum class Order { forward, reverse, shuffled };

struct Random {
  uint64_t state;
  // splitmix64
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

template <typename Value>
void arrange(Value* items, size_t count, Order order, uint64_t seed) {
  std::iota(items, items + count, Value{});
  Random random{seed};
  if (order == Order::reverse)
    for (size_t i = 0; i < count / 2; ++i) std::swap(items[i], items[count - 1 - i]);
  if (order == Order::shuffled)
    for (size_t i = count; i > 1; --i) std::swap(items[i - 1], items[random.next() % i]);
}

// A kernel with its arguments, as one thread calls it.
struct Kernel {
  void (*call)(const void* arguments);
  const void* arguments;
};

struct Block {
  dim3 grid, size;
  uint3 index;
  Kernel kernel;
  unsigned num_threads, num_warps;
  unsigned warp_at, lane_at;
  Site barrier_site;
  unsigned warp_order[max_warps], lane_order[lanes];
  Warp warps[max_warps];
  std::unique_ptr<Thread[]> threads = std::make_unique<Thread[]>(max_threads);
  unsigned started = 0;
  Fiber scheduler;
  SharedMemory shared;

  unsigned warp_now() const { return warp_order[warp_at]; }
  Warp& warp() { return warps[warp_now()]; }
  Thread& thread_at(unsigned warp_index, unsigned position) {
    return threads[warp_index * lanes + lane_order[position]];
  }
};

inline const char* place_of(const Warp& warp, uint32_t bit, const Site& barrier, char (&text)[512]) {
  if (((warp.waiting | warp.at_barrier) & bit) == 0) return warp.ready & bit ? "has not come" : "has ended";
  const Site& site = warp.waiting & bit ? warp.site : barrier;
  std::snprintf(text, sizeof text, "waits at %s (%s:%d)", site.what, site.file, site.line);
  return text;
}

// Says which thread waits where, one for each place, and ends the process.
[[noreturn]] inline void report_stuck(Block& block, const char* why) {
  std::fprintf(stderr, "cuda emulation: %s in block (%u, %u, %u) of a kernel with grid (%u, %u, %u) and block (%u, %u, %u)\n",
               why, block.index.x, block.index.y, block.index.z, block.grid.x, block.grid.y, block.grid.z,
               block.size.x, block.size.y, block.size.z);
  char text[512], before[512] = "";
  for (unsigned w = 0; w < block.num_warps; ++w) {
    for (unsigned p = 0; p < lanes; ++p) {
      if ((block.warps[w].exists >> p & 1) == 0) continue;
      const char* place = place_of(block.warps[w], 1u << p, block.barrier_site, text);
      if (std::strcmp(place, before) == 0) continue;
      const uint3 at = block.thread_at(w, p).index;
      std::fprintf(stderr, "  thread (%u, %u, %u) %s\n", at.x, at.y, at.z, place);
      std::snprintf(before, sizeof before, "%s", place);
    }
  }
  std::abort();
}

[[noreturn]] inline void report_divergent(Block& block, const Site& here, const Site& others) {
  const uint3 at = current.thread->index;
  std::fprintf(stderr, "cuda emulation: divergent: thread (%u, %u, %u) comes to %s (%s:%d) where others came to %s (%s:%d)\n",
               at.x, at.y, at.z, here.what, here.file, here.line, others.what, others.file, others.line);
  report_stuck(block, "its threads");
}

// All lanes of the warp have stopped and some of them wait for the others of the warp.
inline void release_warp(Block& block, Warp& warp) {
  if (warp.at_barrier != 0) report_stuck(block, "deadlock of a warp");
  // Ended lanes count at __syncwarp only: what a shuffle reads from one, and a product without one, is undefined.
  if (warp.waiting != ~0u && std::strcmp(warp.site.what, "__syncwarp") != 0)
    report_stuck(block, "an instruction of a whole warp without all 32 lanes");
  if (warp.finish != nullptr) std::exchange(warp.finish, nullptr)(block, warp);
  warp.ready = std::exchange(warp.waiting, 0);
  ++warp.round;
}

// All warps have stopped: true where any thread waits at __syncthreads. Ended threads no longer count.
inline bool release_block(Block& block) {
  uint32_t any = 0;
  for (unsigned w = 0; w < block.num_warps; ++w) {
    Warp& warp = block.warps[w];
    any |= warp.ready = std::exchange(warp.at_barrier, 0);
  }
  block.barrier_site.what = nullptr;
  return any != 0;
}

// The thread that runs next; none where the block has ended.
inline Thread* advance(Block& block) {
  for (;;) {
    Warp& warp = block.warp();
    if (warp.ready == 0 && warp.waiting != 0) release_warp(block, warp);
    if (warp.ready != 0) {
      block.lane_at = static_cast<unsigned>(std::countr_zero(warp.ready));
      return &block.thread_at(block.warp_now(), block.lane_at);
    }
    if (++block.warp_at < block.num_warps) continue;
    block.warp_at = 0;
    if (!release_block(block)) return nullptr;
  }
}

inline void make_current(Thread* thread) {
  current.thread = thread;
  if (thread != nullptr) threadIdx = thread->index;
}

// The running thread stops, having said what it waits for.
inline void leave() {
  Block& block = *current.block;
  Thread* self = current.thread;
  Thread* next = advance(block);
  if (next == self) return;
  make_current(next);
  switch_fiber(self->fiber, next == nullptr ? block.scheduler : next->fiber);
}

// The running thread's bit, no longer ready.
inline uint32_t stop_running(Block& block) {
  const uint32_t bit = 1u << block.lane_at;
  block.warp().ready &= ~bit;
  return bit;
}

__attribute__((noinline)) inline void wait_for_warp(const Site& site) {
  Block& block = *current.block;
  Warp& warp = block.warp();
  if (warp.waiting == 0) {
    warp.site = site;
  } else if (!is_same(warp.site, site)) {
    report_divergent(block, site, warp.site);
  }
  warp.waiting |= stop_running(block);
  leave();
}

__attribute__((noinline)) inline void wait_for_block(const Site& site) {
  Block& block = *current.block;
  if (block.barrier_site.what == nullptr) {
    block.barrier_site = site;
  } else if (!is_same(block.barrier_site, site)) {
    report_divergent(block, site, block.barrier_site);
  }
  block.warp().at_barrier |= stop_running(block);
  leave();
}

// A fiber serves the thread of its number in all blocks, one after the other.
inline void serve_blocks() {
  begin_fiber();
  for (;;) {
    const Kernel kernel = current.block->kernel;
    kernel.call(kernel.arguments);
    stop_running(*current.block);
    leave();
  }
}

// Threads, warps and their indices, for all blocks of one launch.
inline void prepare_block(Block& block, const Kernel& kernel, dim3 grid, dim3 size) {
  block.kernel = kernel;
  block.grid = grid;
  block.size = size;
  block.num_threads = size.x * size.y * size.z;
  block.num_warps = (block.num_threads + lanes - 1) / lanes;
  for (unsigned t = 0; t < block.num_threads; ++t) {
    block.threads[t].index = {t % size.x, t / size.x % size.y, t / size.x / size.y};
    block.threads[t].lane = t % lanes;
  }
  for (; block.started < block.num_threads; ++block.started)
    start_fiber(block.threads[block.started].fiber, block.started, serve_blocks);
}

inline void run_block(Block& block, uint3 index, Order order, uint64_t seed) {
  block.index = index;
  arrange(block.warp_order, block.num_warps, order, seed);
  arrange(block.lane_order, lanes, order, ~seed);
  for (unsigned w = 0; w < block.num_warps; ++w) {
    Warp& warp = block.warps[w];
    warp.exists = 0;
    for (unsigned p = 0; p < lanes; ++p)
      if (w * lanes + block.lane_order[p] < block.num_threads) warp.exists |= 1u << p;
    warp.ready = warp.exists;
    warp.waiting = warp.at_barrier = 0;
    warp.finish = nullptr;
  }
  block.barrier_site.what = nullptr;
  block.warp_at = 0;
  poison_shared_memory(block.shared);
  blockIdx = index;
  blockDim = block.size;
  gridDim = block.grid;
  current.block = &block;
  make_current(advance(block));
  switch_fiber(block.scheduler, current.thread->fiber);
}

}  // namespace cuda_emulation
