// SPDX-License-Identifier: MIT
// runtime.threading: std::thread workers that spin for some 50 us between jobs, then yield, then sleep on a futex, so
// that a job starts within a microsecond while decoding and oversubscribed cores are given up soon (a pure spin
// collapses there). No tensor; any dtype; target: any POSIX system; exact.
// applies: hardware.platform=cpu-x86_64|cuda
#include "runtime_threading.h"

// One round of waiting; false once it is time to sleep.
static bool wait_awake(int round) {
  constexpr int spins = 2000, yields = 200;
  if (round < spins) __builtin_ia32_pause();
  else std::this_thread::yield();
  return round < spins + yields;
}

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)) {
  for (int thread = 1; thread < threads_; ++thread) workers_.emplace_back([this, thread] { work(thread); });
}

ThreadPool::~ThreadPool() {
  job_ = nullptr;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work(int thread) {
  for (uint32_t seen = 0;;) {
    uint32_t now = generation_.load(std::memory_order_acquire);
    for (int round = 0; now == seen; ++round, now = generation_.load(std::memory_order_acquire))
      if (!wait_awake(round)) generation_.wait(seen, std::memory_order_acquire);
    seen = now;
    if (job_ == nullptr) return;
    (*job_)(thread, threads_);
    pending_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run(const std::function<void(int, int)>& f) {
  job_ = &f;
  pending_.store(threads_ - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_seq_cst);
  generation_.notify_all();
  f(0, threads_);
  for (int round = 0; pending_.load(std::memory_order_acquire) != 0; ++round) wait_awake(round);
}
