// SPDX-License-Identifier: MIT
#include "shim.h"

#include "runtime_memory.h"

namespace {

ShimTensor download(const Memory& memory, const ShimTensor& like) {
  ShimTensor out = shim_f32(like.shape);
  copy_memory(out.f.data(), memory.as<float>(), out.f.size() * 4);
  return out;
}

void fill(View view, const ShimTensor& from) {
  for (int64_t row = 0; row < from.shape[0]; ++row)
    copy_memory(view.row(row), from.f.data() + row * from.shape[1], static_cast<size_t>(from.shape[1]) * 4);
}

ShimTensor read(View view, const ShimTensor& like) {
  ShimTensor out = shim_f32(like.shape);
  for (int64_t row = 0; row < like.shape[0]; ++row)
    copy_memory(out.f.data() + row * like.shape[1], view.row(row), static_cast<size_t>(like.shape[1]) * 4);
  return out;
}

void run_scratch(ShimCase& c) {
  const ShimTensor &x = c.in.at("x"), &y = c.in.at("y");
  Workspace workspace(1024);
  workspace.poison();
  const View first = workspace.take(x.shape[0], x.shape[1]);
  float* given_back;
  {
    const Workspace::Scope scope(workspace);
    const View second = workspace.take(y.shape[0], y.shape[1]);
    given_back = second.row(0);
    fill(second, y);
    fill(first, x);
    c.out["y"] = read(second, y);
  }
  const View third = workspace.take(y.shape[0], y.shape[1]);
  fill(third, y);
  c.out["x"] = read(first, x);
  c.out["again"] = third.row(0) == given_back ? read(third, y) : shim_f32(y.shape);
}

}  // namespace

void run_case(ShimCase& c) {
  if (c.op == "scratch") return run_scratch(c);
  const ShimTensor& x = c.in.at("x");
  Memory memory(x.f.size() * 4, Memory::Pages::small);
  if (c.op == "round_trip") {
    const auto offset = static_cast<int64_t>(c.numbers.at("offset")), length = static_cast<int64_t>(c.numbers.at("length"));
    copy_memory(memory.as<float>() + offset, x.f.data() + offset, static_cast<size_t>(length) * 4);
  }
  if (c.op == "poison") fill_nan(memory);
  c.out["out"] = download(memory, x);
}
