// SPDX-License-Identifier: MIT
// runtime.memory, host: anonymous zeroed pages, aligned to 2 MiB and committed when touched; huge pages where asked,
// since a huge page per head would cost a sparsely used cache far more than it holds. Any Linux; exact.
// applies: hardware.platform=cpu-x86_64
#include "runtime_memory.h"
#include <sys/mman.h>

Memory::Memory(size_t bytes, Pages pages) : bytes_(std::max<size_t>(bytes, 1)) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  constexpr size_t huge = size_t{2} << 20;
  const size_t mapped = bytes_ + huge;  // so that an aligned part of it is large enough
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (base == MAP_FAILED) throw EngineError("out of memory: cannot map " + std::to_string(bytes_) + " bytes");
  char* aligned = static_cast<char*>(base) + (huge - reinterpret_cast<uintptr_t>(base) % huge) % huge;
  madvise(aligned, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  data_ = {aligned, [base, mapped](void*) { munmap(base, mapped); }};
}

void copy_memory(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

void fill_nan(const Memory& memory) { std::fill_n(memory.as<float>(), memory.bytes() / 4, NAN); }
