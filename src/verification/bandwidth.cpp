// SPDX-License-Identifier: MIT
// Measures this machine: read bandwidth per working-set size, and the multiply-add rate, on `threads` threads with the
// vector width that the flags allow. Arguments: threads seconds_per_size bytes... ; prints one JSON object.
// A sample is as many passes over the set as last about 10 ms; best and mean over the samples are printed.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
typedef uint64_t Words __attribute__((vector_size(vector_bytes)));
typedef float Floats __attribute__((vector_size(vector_bytes)));

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/** All threads start together; spins, then yields so that fewer cores than threads still get through. */
struct Barrier {
  int threads;
  std::atomic<int> waiting{0}, round{0};
  void wait() {
    const int mine = round.load();
    if (waiting.fetch_add(1) + 1 == threads) {
      waiting.store(0);
      round.fetch_add(1);
      return;
    }
    for (int spins = 0; round.load() == mine; ++spins) {
      if (spins > 2000) std::this_thread::yield();
    }
  }
};

struct Rates {
  double best, mean;
};

std::atomic<uint64_t> sink{0};

/** Runs work(thread, repeats) on all threads for about `seconds`; `units` is what one repeat of all threads amounts to. */
Rates measure(int threads, double seconds, double units, const std::function<uint64_t(int, int)>& work) {
  Barrier barrier{threads};
  std::atomic<bool> stop{false};
  std::atomic<int> repeats{1};
  double best = 0, total_units = 0, total_time = 0;
  // A sample begins when its first thread does: thread 0 may be held up while another already works.
  std::vector<double> starts(static_cast<size_t>(threads));
  const auto run = [&](int thread) {
    uint64_t kept = 0;
    const double end = now() + seconds;
    for (bool calibrating = true;;) {
      barrier.wait();
      if (stop.load()) break;
      starts[static_cast<size_t>(thread)] = now();
      kept += work(thread, repeats.load());
      barrier.wait();
      if (thread == 0) {
        const double took = now() - *std::min_element(starts.begin(), starts.end());
        const double rate = units * repeats.load() / took;
        if (!calibrating) {
          best = std::max(best, rate);
          total_units += units * repeats.load();
          total_time += took;
        } else if (took < 0.005) {
          repeats.store(repeats.load() * 2);
        } else {
          calibrating = false;
        }
        if (now() > end && total_time > 0) stop.store(true);
      }
    }
    sink += kept;
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& other : others) other.join();
  return {best, total_units / total_time};
}

/** Sums `count` vectors; eight sums hide the latency of the additions, never that of the loads. */
uint64_t read_all(const Words* data, size_t count) {
  Words sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
#pragma GCC unroll 8
    for (int lane = 0; lane < 8; ++lane) sums[lane] += data[i + static_cast<size_t>(lane)];
  }
  Words all = sums[0];
  for (int lane = 1; lane < 8; ++lane) all ^= sums[lane];
  return all[0];
}

Rates measure_read(int threads, double seconds, size_t bytes) {
  const size_t unit = static_cast<size_t>(vector_bytes) * 8;
  const size_t share = std::max<size_t>(1, bytes / unit / static_cast<size_t>(threads)) * unit;
  const size_t total = share * static_cast<size_t>(threads);
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {0, 0};
  madvise(memory, total, MADV_HUGEPAGE);
  char* base = static_cast<char*>(memory);
  // Each thread touches its own share first, so that its pages lie on its node.
  std::vector<std::thread> writers;
  for (int thread = 0; thread < threads; ++thread) {
    writers.emplace_back([=] { std::fill_n(base + share * static_cast<size_t>(thread), share, static_cast<char>(thread + 1)); });
  }
  for (std::thread& writer : writers) writer.join();
  const Rates rates = measure(threads, seconds, static_cast<double>(total), [=](int thread, int repeats) {
    const Words* data = reinterpret_cast<const Words*>(base + share * static_cast<size_t>(thread));
    uint64_t kept = 0;
    for (int i = 0; i < repeats; ++i) {
      kept += read_all(data, share / static_cast<size_t>(vector_bytes));
      asm volatile("" ::: "memory");  // The same data must be read again.
    }
    return kept;
  });
  munmap(memory, total);
  return rates;
}

/** Twelve independent chains of a = a * b + c: enough to fill two units of four to five cycles latency. */
Rates measure_flops(int threads, double seconds) {
  constexpr int chains = 12, steps = 10'000;
  const double per_repeat = 2.0 * chains * steps * (vector_bytes / 4) * threads;
  return measure(threads, seconds, per_repeat, [](int thread, int repeats) {
    Floats values[chains];
    for (int i = 0; i < chains; ++i) values[i] = Floats{} + 1.0F + static_cast<float>(i + thread);
    Floats factor = Floats{} + 0.999F, addend = Floats{} + 0.001F;
    asm volatile("" : "+x"(factor), "+x"(addend));
    for (int step = 0; step < steps * repeats; ++step) {
#pragma GCC unroll 12
      for (int i = 0; i < chains; ++i) values[i] = values[i] * factor + addend;
    }
    float sum = 0;
    for (int i = 0; i < chains; ++i) sum += values[i][0];
    return static_cast<uint64_t>(sum);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int threads = std::max(1, std::atoi(argv[1]));
  const double seconds = std::atof(argv[2]);
  std::printf("{\"read\":[");
  for (int i = 3; i < argc; ++i) {
    const size_t bytes = std::strtoull(argv[i], nullptr, 10);
    const Rates rates = measure_read(threads, seconds, bytes);
    std::printf("%s{\"working_set_bytes\":%zu,\"best_bytes_per_second\":%.0f,\"mean_bytes_per_second\":%.0f}", i > 3 ? "," : "", bytes,
                rates.best, rates.mean);
  }
  const Rates flops = measure_flops(threads, seconds);
  std::printf("],\"best_flops_per_second\":%.0f,\"mean_flops_per_second\":%.0f}\n", flops.best, flops.mean);
  return 0;
}
