// SPDX-License-Identifier: MIT
// runtime.threading: a fixed pool of threads that starts a job in about a microsecond, and the loop built on it.
#pragma once
#include <atomic>
#include <thread>
#include "runtime_context.h"

class ThreadPool {
 public:
  // threads counts the caller: 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const { return threads_; }
  // Calls f(thread, threads) once on each thread and returns when all are done. Not from within f; f must not throw.
  void run(const std::function<void(int thread, int threads)>& f);

 private:
  void work(int thread);
  int threads_;
  const std::function<void(int, int)>* job_ = nullptr;
  alignas(64) std::atomic<uint32_t> generation_{0};  // a new value is a new job
  alignas(64) std::atomic<int> pending_{0};          // workers still busy with it
  std::vector<std::thread> workers_;
};

// f(begin, end) over [0, count) in pieces of `grain`, on whichever thread is free; inline where one piece is all.
template <typename F>
void parallel_for(Context& ctx, int64_t count, int64_t grain, const F& f) {
  if (count <= grain || ctx.pool.threads() == 1) {
    if (count > 0) f(int64_t{0}, count);
    return;
  }
  std::atomic<int64_t> next{0};
  ctx.pool.run([&](int, int) {
    for (int64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;)
      f(begin, std::min(begin + grain, count));
  });
}
