// SPDX-License-Identifier: MIT
// The per-thread default stream: what was started waits until the host waits for it, so that a missing
// synchronization shows; or it is captured into a graph, which starts it again and again with the arguments it had.
#pragma once
#include <condition_variable>
#include <functional>
#include <thread>
#include <vector>

#include "emulated-block.h"
#include "emulated-fault.h"
#include "emulated-memory.h"

namespace cuda_emulation {

using Work = std::function<cudaError_t(Block&)>;

// The one OS thread that kernels run on. Never destroyed, as it may still wait when the process ends.
class DeviceThread {
 public:
  // Returns the first error; what comes after it isn't done.
  cudaError_t run(const std::vector<Work>& work) {
    const std::lock_guard<std::mutex> one_at_a_time(callers_);
    const DeviceAccess access;
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    return status_;
  }

 private:
  void serve() {
    const auto block = std::make_unique<Block>();
    adopt_own_stack(block->scheduler);
    block->shared = find_shared_memory();
    use_stack_for_faults();
    for (std::unique_lock<std::mutex> lock(mutex_);;) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      status_ = cudaSuccess;
      for (size_t i = 0; i < work_->size() && status_ == cudaSuccess; ++i) status_ = (*work_)[i](*block);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable changed_;
  const std::vector<Work>* work_ = nullptr;
  cudaError_t status_ = cudaSuccess;
  std::thread thread_{[this] { serve(); }};
};

inline DeviceThread& device_thread() {
  static DeviceThread& device = *new DeviceThread;
  return device;
}

struct Stream {
  std::vector<Work> pending, captured;
  bool is_capturing = false, is_invalid = false;
  cudaError_t fault = cudaSuccess;  // stays
  cudaError_t last = cudaSuccess;   // for cudaGetLastError

  ~Stream() { flush(); }
  // Does what was started; the host now sees it.
  cudaError_t flush() {
    if (!pending.empty() && fault == cudaSuccess) fault = device_thread().run(pending);
    pending.clear();
    return fault;
  }
  void start(Work work) { (is_capturing ? captured : pending).push_back(std::move(work)); }
  cudaError_t ended(cudaError_t status) {
    if (status != cudaSuccess) last = status;
    return status;
  }
  // Calls that wait, or that allocate, have no place in a capture and spoil it.
  bool refuses_now() {
    if (is_capturing) is_invalid = true;
    return is_capturing;
  }
};

inline Stream& own_stream() {
  static thread_local Stream stream;
  return stream;
}

}  // namespace cuda_emulation

struct EmulatedGraph {
  std::vector<cuda_emulation::Work> nodes;
};
struct EmulatedExecutableGraph {
  std::vector<cuda_emulation::Work> nodes;
};

inline cudaError_t cudaGetLastError() { return std::exchange(cuda_emulation::own_stream().last, cudaSuccess); }

inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (own.refuses_now()) return own.ended(cudaErrorStreamCaptureUnsupported);
  return own.ended(own.flush());
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (own.is_capturing) return own.ended(cudaErrorIllegalState);
  own.is_capturing = true;
  own.is_invalid = false;
  own.captured.clear();
  return cudaSuccess;
}

inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (!own.is_capturing) return own.ended(cudaErrorIllegalState);
  own.is_capturing = false;
  *graph = nullptr;
  if (own.is_invalid) return own.ended(cudaErrorStreamCaptureInvalidated);
  *graph = new EmulatedGraph{std::move(own.captured)};
  return cudaSuccess;
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long = 0) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (executable == nullptr || graph == nullptr) return own.ended(cudaErrorInvalidValue);
  *executable = new EmulatedExecutableGraph{graph->nodes};
  return cudaSuccess;
}

inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (executable == nullptr) return own.ended(cudaErrorInvalidValue);
  if (own.refuses_now()) return own.ended(cudaErrorNotSupported);
  for (const cuda_emulation::Work& node : executable->nodes) own.start(node);
  return cudaSuccess;
}

inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
