// SPDX-License-Identifier: MIT
// Device and pinned memory: every allocation lies by itself, filled with 0xFF, its end at a page that nobody may touch.
// What was freed is never given out again, so that a stale pointer faults. Under AddressSanitizer the bytes between the
// end and that page fault as well.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "emulated-types.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_emulation {

enum class Place { host, device, pinned, outside };

struct Allocation {
  Place place;
  size_t bytes;
  char* pages;  // between two that nobody may touch
  size_t page_bytes;
  bool is_live;
};

inline size_t physical_bytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

class Allocations {
 public:
  // Null where there is not enough.
  void* allocate(size_t bytes, Place place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > physical_bytes() || in_use_ + bytes > physical_bytes()) return nullptr;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), padded = (bytes + 255) / 256 * 256;
    const size_t page_bytes = (padded + page - 1) / page * page;
    void* area = mmap(nullptr, page_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED) return nullptr;
    char* pages = static_cast<char*>(area) + page;
    if (mprotect(pages, page_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    std::memset(pages, 0xFF, page_bytes);
    char* first = pages + page_bytes - padded;
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(pages, static_cast<size_t>(first - pages));
    __asan_poison_memory_region(first + bytes, padded - bytes);
#endif
    in_use_ += bytes;
    all_[reinterpret_cast<uintptr_t>(first)] = {place, bytes, pages, page_bytes, true};
    return first;
  }

  // False where it isn't the beginning of a live allocation of that place.
  bool release(void* pointer, Place place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = all_.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == all_.end() || found->second.place != place || !found->second.is_live) return false;
    Allocation& allocation = found->second;
    allocation.is_live = false;
    in_use_ -= allocation.bytes;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(allocation.pages, allocation.page_bytes);
#endif
    // The memory goes back, the addresses stay taken.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return mmap(allocation.pages, allocation.page_bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED;
  }

  // Where [pointer, pointer + bytes) lies; outside: it leaves its allocation, or that was freed.
  Place find(const void* pointer, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t first = reinterpret_cast<uintptr_t>(pointer);
    auto next = all_.upper_bound(first);
    if (next != all_.end() && bytes > next->first - first) return Place::outside;
    if (next == all_.begin()) return Place::host;
    const auto& [begin, allocation] = *--next;
    if (first >= begin + (allocation.bytes + 255) / 256 * 256) return Place::host;
    if (!allocation.is_live || first - begin > allocation.bytes || bytes > allocation.bytes - (first - begin))
      return Place::outside;
    return allocation.place;
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, Allocation> all_;
  size_t in_use_ = 0;
};

// Never destroyed: other threads may still use it when the process ends.
inline Allocations& allocations() {
  static Allocations& all = *new Allocations;
  return all;
}

// What a copy of this kind between these places amounts to.
inline cudaError_t check_copy(Place to, Place from, cudaMemcpyKind kind) {
  if (to == Place::outside || from == Place::outside) return cudaErrorInvalidValue;
  const bool to_device = to == Place::device, from_device = from == Place::device;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return to_device == wants_to && from_device == wants_from ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace cuda_emulation
