// SPDX-License-Identifier: MIT
// Shared memory: `__shared__` is `static thread_local`, and the OS thread that runs blocks does nothing else, so its
// whole thread-local storage in this program is the shared memory of all kernels. Every byte of it is 0xFF (floats:
// NaN) when a block begins.
#pragma once
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emulated-vectors.h"

#define __shared__ static thread_local

inline thread_local uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0};
inline thread_local dim3 blockDim{0, 0, 0}, gridDim{0, 0, 0};

namespace cuda_emulation {

struct Block;
struct Thread;

// Which thread of which block runs now on this OS thread. Like the indices above, it lies among shared memory: written
// after each poisoning.
struct Current {
  Block* block;
  Thread* thread;
};
inline thread_local Current current{nullptr, nullptr};

struct SharedMemory {
  char* first = nullptr;
  size_t bytes = 0;
};

// The calling thread's storage in the program (or library) that the emulation is part of.
inline SharedMemory find_shared_memory() {
  SharedMemory found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, size_t, void* result) {
        const char* own = reinterpret_cast<const char*>(&current);
        char* storage = static_cast<char*>(module->dlpi_tls_data);
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& header = module->dlpi_phdr[i];
          if (header.p_type != PT_TLS || storage == nullptr) continue;
          if (own < storage || own >= storage + header.p_memsz) continue;
          *static_cast<SharedMemory*>(result) = {storage, header.p_memsz};
          return 1;
        }
        return 0;
      },
      &found);
  return found;
}

inline void poison_shared_memory(const SharedMemory& memory) { std::memset(memory.first, 0xFF, memory.bytes); }

}  // namespace cuda_emulation
