// SPDX-License-Identifier: MIT
// Says what a fault was before it ends the process: outside of which memory, in which thread of which block. Where
// somebody else answers faults (AddressSanitizer), it stays out of the way.
#pragma once
#include <signal.h>

#include "emulated-block.h"
#include "emulated-memory.h"

namespace cuda_emulation {

inline const char* describe_fault(const siginfo_t& fault, char* text, size_t bytes) {
  const char* address = static_cast<const char*>(fault.si_addr);
  std::snprintf(text, bytes, "address %p", static_cast<const void*>(address));
  // The processor names no address where a vector access isn't aligned.
  if (fault.si_code == SI_KERNEL) return "a misaligned access, or no address at all";
  if (current.thread != nullptr && address < current.thread->fiber.lowest &&
      address >= current.thread->fiber.lowest - 4096)
    return "the stack of a thread, which is too small for it";
  allocations().describe(address, text, bytes);
  return text;
}

inline void explain_fault(int, siginfo_t* fault, void*) {
  char text[256];
  std::fprintf(stderr, "cuda emulation: fault at %s, ", describe_fault(*fault, text, sizeof text));
  if (current.thread == nullptr) {
    std::fprintf(stderr, "in host code\n");
    return;
  }
  const uint3 block = current.block->index, thread = current.thread->index;
  std::fprintf(stderr, "in thread (%u, %u, %u) of block (%u, %u, %u) of a kernel\n", thread.x, thread.y, thread.z,
               block.x, block.y, block.z);
}

// Once per process. The fault happens again after the explanation, and then ends the process.
inline void explain_faults() {
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction before, own{};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    own.sa_sigaction = explain_fault;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(signal, &own, nullptr);
  }
}

// Of the thread that kernels run on: a fiber whose stack is full can't explain that on it.
inline void use_stack_for_faults() {
  static char memory[64 << 10];
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  stack_t before;
  if (sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE)) sigaltstack(&stack, nullptr);
}

}  // namespace cuda_emulation
