// SPDX-License-Identifier: MIT
// Allocation, copies and fills. A copy from or to ordinary host memory is done when the call returns, as by CUDA; one
// between pinned and device memory waits in the stream.
#pragma once
#include "emulated-stream.h"

namespace cuda_emulation {

// Rows of `width` bytes, `pitch` apart.
struct Rows {
  size_t pitch, width, height;
  size_t bytes() const { return height == 0 || width == 0 ? 0 : (height - 1) * pitch + width; }
};

inline cudaError_t copy_rows(void* to, Rows to_rows, const void* from, Rows from_rows, cudaMemcpyKind kind) {
  const Place there = allocations().find(to, to_rows.bytes()), here = allocations().find(from, from_rows.bytes());
  const cudaError_t status = check_copy(there, here, kind);
  if (status != cudaSuccess) return status;
  const DeviceAccess access;
  for (size_t row = 0; row < to_rows.height; ++row)
    std::memmove(static_cast<char*>(to) + row * to_rows.pitch, static_cast<const char*>(from) + row * from_rows.pitch,
                 to_rows.width);
  return cudaSuccess;
}

inline cudaError_t start_copy(void* to, Rows to_rows, const void* from, Rows from_rows, cudaMemcpyKind kind) {
  if (to_rows.bytes() == 0) return cudaSuccess;
  const Place there = allocations().find(to, to_rows.bytes()), here = allocations().find(from, from_rows.bytes());
  const cudaError_t status = check_copy(there, here, kind);
  if (status != cudaSuccess) return status;
  Stream& own = own_stream();
  const bool is_pageable = there == Place::host || here == Place::host;
  if (is_pageable && !own.is_capturing) {
    const cudaError_t before = own.flush();
    return before == cudaSuccess ? copy_rows(to, to_rows, from, from_rows, kind) : before;
  }
  own.start([=](Block&) {
    return copy_rows(to, to_rows, from, from_rows, kind) == cudaSuccess ? cudaSuccess : cudaErrorIllegalAddress;
  });
  return cudaSuccess;
}

// Out of line, so that no compiler warns of a pointer that a refused call leaves unset.
__attribute__((noinline)) inline cudaError_t allocate(void** pointer, size_t bytes, Place place) {
  Stream& own = own_stream();
  if (pointer == nullptr) return own.ended(cudaErrorInvalidValue);
  if (own.refuses_now()) return own.ended(cudaErrorStreamCaptureUnsupported);
  static const bool are_faults_explained = (explain_faults(), true);
  static_cast<void>(are_faults_explained);
  *pointer = bytes == 0 ? nullptr : allocations().allocate(bytes, place);
  return own.ended(*pointer == nullptr && bytes > 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

// Waits for what was started, as by CUDA.
inline cudaError_t release(void* pointer, Place place) {
  Stream& own = own_stream();
  if (pointer == nullptr) return cudaSuccess;
  if (own.refuses_now()) return own.ended(cudaErrorStreamCaptureUnsupported);
  const cudaError_t status = own.flush();
  if (!allocations().release(pointer, place)) return own.ended(cudaErrorInvalidValue);
  return own.ended(status);
}

}  // namespace cuda_emulation

inline cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return cuda_emulation::allocate(pointer, bytes, cuda_emulation::Place::device);
}
template <typename Value>
cudaError_t cudaMalloc(Value** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
inline cudaError_t cudaFree(void* pointer) {
  return cuda_emulation::release(pointer, cuda_emulation::Place::device);
}
inline cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cuda_emulation::allocate(pointer, bytes, cuda_emulation::Place::pinned);
}
template <typename Value>
cudaError_t cudaMallocHost(Value** pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
inline cudaError_t cudaFreeHost(void* pointer) {
  return cuda_emulation::release(pointer, cuda_emulation::Place::pinned);
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  const cuda_emulation::Rows one{bytes, bytes, 1};
  return own.ended(cuda_emulation::start_copy(to, one, from, one, kind));
}

inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (width > to_pitch || width > from_pitch) return own.ended(cudaErrorInvalidPitchValue);
  return own.ended(cuda_emulation::start_copy(to, {to_pitch, width, height}, from, {from_pitch, width, height}, kind));
}

inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  cuda_emulation::Stream& own = cuda_emulation::own_stream();
  if (stream != cudaStreamPerThread) return own.ended(cudaErrorInvalidResourceHandle);
  if (bytes == 0) return cudaSuccess;
  const auto fill = [=](cuda_emulation::Block&) {
    if (cuda_emulation::allocations().find(to, bytes) != cuda_emulation::Place::device) return cudaErrorIllegalAddress;
    std::memset(to, value, bytes);
    return cudaSuccess;
  };
  if (cuda_emulation::allocations().find(to, bytes) != cuda_emulation::Place::device)
    return own.ended(cudaErrorInvalidValue);
  own.start(fill);
  return cudaSuccess;
}
