// SPDX-License-Identifier: MIT
// Tensors of a unit-gate case in the engine's memory and back: one text for engines on a host and on a GPU.
#pragma once
#include "runtime_memory.h"
#include "shim.h"

// [..., columns] with the leading dimensions folded into rows. Rows lie round_up(columns, 16) floats apart, as
// Workspace gives them, and NaN lies between them: a symbol that reads past its columns shows it.
class ShimMatrix {
 public:
  explicit ShimMatrix(const ShimTensor& tensor)
      : shape_(tensor.shape),
        columns_(tensor.shape.back()),
        rows_(shim_count(tensor.shape) / std::max<int64_t>(1, columns_)),
        stride_(round_up(columns_, 16)),
        memory_(byte_count(), Memory::Pages::small) {
    std::vector<float> padded(byte_count() / 4, std::numeric_limits<float>::quiet_NaN());
    for (int64_t row = 0; row < rows_; ++row)
      std::copy_n(tensor.f.begin() + row * columns_, columns_, padded.begin() + row * stride_);
    copy_memory(memory_.as<float>(), padded.data(), padded.size() * 4);
  }
  View view() const {
    View view = f32_view(memory_.as<float>(), columns_);
    view.row_stride = stride_;
    return view;
  }
  // With the shape that it came with.
  ShimTensor download() const {
    std::vector<float> padded(byte_count() / 4);
    copy_memory(padded.data(), memory_.as<float>(), padded.size() * 4);
    ShimTensor tensor = shim_f32(shape_);
    for (int64_t row = 0; row < rows_; ++row)
      std::copy_n(padded.begin() + row * stride_, columns_, tensor.f.begin() + row * columns_);
    return tensor;
  }

 private:
  // Never nothing: a matrix of no rows has an address too.
  size_t byte_count() const {
    return static_cast<size_t>(std::max<int64_t>(1, rows_) * std::max<int64_t>(16, stride_)) * 4;
  }

  std::vector<int64_t> shape_;
  int64_t columns_, rows_, stride_;
  Memory memory_;
};

// [count] as one row: a norm's gain, a bias.
class ShimVector {
 public:
  explicit ShimVector(const ShimTensor& tensor) : matrix_(tensor) {}
  View view() const { return matrix_.view(); }
  ShimTensor download() const { return matrix_.download(); }

 private:
  ShimMatrix matrix_;
};

class ShimRows {
 public:
  explicit ShimRows(const std::vector<Row>& rows)
      : memory_(std::max<size_t>(1, rows.size()) * sizeof(Row), Memory::Pages::small) {
    if (!rows.empty()) copy_memory(memory_.as<Row>(), rows.data(), rows.size() * sizeof(Row));
  }
  const Row* data() const { return memory_.as<Row>(); }

 private:
  Memory memory_;
};
