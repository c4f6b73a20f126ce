// SPDX-License-Identifier: MIT
// runtime.memory: the memory that tensors lie in - the host's, or a GPU's - and scratch matrices in it.
#pragma once
#include "runtime_context.h"

// Zeroed memory of the engine's device, aligned to at least 256 bytes. Moved, never copied. EngineError where there
// is not enough.
class Memory {
 public:
  // Host only: huge pages for what is streamed whole (weights), small ones for what is used sparsely (KV).
  enum class Pages : uint8_t { small, huge };
  Memory(size_t bytes, Pages pages);
  template <typename T>
  T* as() const { return static_cast<T*>(data_.get()); }
  size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, std::function<void(void*)>> data_;
  size_t bytes_;
};

// From or to the engine's memory, the other side being the host's or the engine's too (the addresses tell). Comes after
// all work that was started before, and returns when the bytes are there.
void copy_memory(void* to, const void* from, size_t bytes);
// Every float NaN.
void fill_nan(const Memory& memory);

// A row of values in the engine's memory: a norm's gain, a bias.
inline Memory to_memory(const std::vector<float>& values) {
  Memory memory(values.size() * 4, Memory::Pages::small);
  copy_memory(memory.as<float>(), values.data(), values.size() * 4);
  return memory;
}
inline View memory_view(const Memory& memory /*[1, columns]*/, int64_t columns) {
  return f32_view(memory.as<float>(), columns);
}

// Scratch matrices of one forward call, handed out in stack order: a Workspace::Scope gives back what was taken in it.
class Workspace {
 public:
  explicit Workspace(int64_t floats) : memory_(static_cast<size_t>(floats) * 4, Memory::Pages::huge) {}
  View take(int64_t rows, int64_t columns) {
    View view = f32_view(memory_.as<float>() + used_, columns);
    view.row_stride = round_up(columns, 16);
    used_ += rows * view.row_stride;
    if (static_cast<size_t>(used_) * 4 > memory_.bytes()) throw EngineError("scratch too small: an engine defect");
    return view;
  }
  void poison() { fill_nan(memory_); }
  struct Scope {
    Workspace& workspace;
    const int64_t mark = workspace.used_;
    ~Scope() { workspace.used_ = mark; }
  };

 private:
  Memory memory_;
  int64_t used_ = 0;
};
