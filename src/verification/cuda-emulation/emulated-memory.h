// SPDX-License-Identifier: MIT
// Device and pinned memory: every allocation lies by itself, filled with 0xFF, its end at a page that nobody may touch.
// What was freed is never given out again, so that a stale pointer faults. Under AddressSanitizer the bytes between the
// end and that page fault as well. At first, device memory can be touched only while a kernel or a copy runs, so that host
// code that follows a device pointer faults; each change costs up to 25 us, so this ends after so many.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "emulated-fiber.h"
#include "emulated-types.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_emulation {

inline constexpr int protection_changes = 8000;

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
    Allocation allocation{place, bytes, pages, page_bytes, true};
    if (mprotect(pages, page_bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    std::memset(pages, 0xFF, page_bytes);
    char* first = pages + page_bytes - padded;
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(pages, static_cast<size_t>(first - pages));
    __asan_poison_memory_region(first + bytes, padded - bytes);
#endif
    in_use_ += bytes;
    if (is_closed_) protect(allocation, PROT_NONE);
    all_[reinterpret_cast<uintptr_t>(first)] = allocation;
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

  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_++ == 0) set_closed(false);
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--users_ == 0 && changes_ < protection_changes) set_closed(true);
  }

  // In words, where it lies in or near an allocation; for a fault's message. Waits for no lock.
  void describe(const void* pointer, char* text, size_t bytes) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    for (const auto& [first, allocation] : all_) {
      const uintptr_t pages = reinterpret_cast<uintptr_t>(allocation.pages), near = 4096;
      if (address < pages - near || address >= pages + allocation.page_bytes + near) continue;
      std::snprintf(text, bytes, "byte %lld of %s of %zu bytes%s", static_cast<long long>(address - first),
                    allocation.place == Place::device ? "device memory" : "pinned memory", allocation.bytes,
                    allocation.is_live ? "" : " that was freed");
      return;
    }
  }

 private:
  void protect(const Allocation& allocation, int access) {
    if (allocation.place != Place::device || !allocation.is_live) return;
    if (mprotect(allocation.pages, allocation.page_bytes, access) != 0) give_up("device memory can't be opened or closed");
    ++changes_;
  }
  void set_closed(bool is_closed) {
    if (is_closed == is_closed_) return;
    is_closed_ = is_closed;
    for (const auto& [first, allocation] : all_) protect(allocation, is_closed ? PROT_NONE : PROT_READ | PROT_WRITE);
  }

  int users_ = 0, changes_ = 0;
  bool is_closed_ = true;
  std::mutex mutex_;
  std::map<uintptr_t, Allocation> all_;
  size_t in_use_ = 0;
};

// Never destroyed: other threads may still use it when the process ends.
inline Allocations& allocations() {
  static Allocations& all = *new Allocations;
  return all;
}

// Device memory may be touched while one of these lives.
struct DeviceAccess {
  DeviceAccess() { allocations().open(); }
  ~DeviceAccess() { allocations().close(); }
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

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
