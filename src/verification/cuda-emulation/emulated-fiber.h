// SPDX-License-Identifier: MIT
// Fibers: stacks that one OS thread changes between. A few instructions on x86-64; ucontext elsewhere, or where
// CUDA_EMULATION_UCONTEXT is defined.
#pragma once
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#if !defined(__x86_64__) || defined(CUDA_EMULATION_UCONTEXT)
#define CUDA_EMULATION_BY_UCONTEXT
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_emulation {

[[noreturn]] inline void give_up(const char* why) {
  std::fprintf(stderr, "cuda emulation: %s\n", why);
  std::abort();
}

struct Fiber {
#ifdef CUDA_EMULATION_BY_UCONTEXT
  ucontext_t context;
#else
  void* stack_pointer = nullptr;
#endif
  // What AddressSanitizer must be told.
  void* fake_stack = nullptr;
  char* lowest = nullptr;
  size_t bytes = 0;
};

#ifndef CUDA_EMULATION_BY_UCONTEXT
// Registers that a call keeps go to the stack that is left. Arguments: rdi where to put its pointer, rsi the new one.
__attribute__((naked, noinline)) inline void switch_stack(void**, void*) {
  asm volatile(
      "push %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
      "mov %rsp, (%rdi)\n\tmov %rsi, %rsp\n\t"
      "pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret");
}
#endif

inline void switch_fiber(Fiber& from, Fiber& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.lowest, to.bytes);
#endif
#ifdef CUDA_EMULATION_BY_UCONTEXT
  swapcontext(&from.context, &to.context);
#else
  switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

// What a fiber's entry does first.
inline void begin_fiber() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

// The stack that this OS thread came with.
inline void adopt_own_stack(Fiber& fiber) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) give_up("the stack's place is unknown");
  pthread_attr_getstack(&attributes, &lowest, &fiber.bytes);
  pthread_attr_destroy(&attributes);
  fiber.lowest = static_cast<char*>(lowest);
}

#ifdef __SANITIZE_ADDRESS__
inline constexpr size_t stack_bytes = 256 << 10;  // instrumented frames are several times larger
#else
inline constexpr size_t stack_bytes = 64 << 10;
#endif

// A stack of its own with a page below that nobody may touch; entry never returns.
inline void start_fiber(Fiber& fiber, size_t number, void (*entry)()) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) give_up("no memory for the stacks of a block");
  fiber.lowest = static_cast<char*>(memory) + page;
  if (mprotect(fiber.lowest, stack_bytes, PROT_READ | PROT_WRITE) != 0) give_up("no memory for the stacks of a block");
  // Tops at the same place of their pages would all share a few sets of the caches.
  fiber.bytes = stack_bytes - number % 32 * 128;
#ifdef CUDA_EMULATION_BY_UCONTEXT
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.lowest;
  fiber.context.uc_stack.ss_size = fiber.bytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, entry, 0);
#else
  void** top = reinterpret_cast<void**>(fiber.lowest + fiber.bytes);
  *--top = nullptr;  // where a return would go; keeps the alignment of a function's entry
  *--top = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  fiber.stack_pointer = top;
#endif
}

}  // namespace cuda_emulation
