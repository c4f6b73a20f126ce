// SPDX-License-Identifier: MIT
// Runs the cases of a file one after the other and appends each result to another file as soon as it is there, so
// that a crash in one case loses that case only. Formats: src/verification/shim-cases.ts.
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "shim.h"

namespace {

class Reader {
 public:
  explicit Reader(FILE* file) : file_(file) {}
  bool at_end() {
    const int next = std::fgetc(file_);
    if (next == EOF) return true;
    std::ungetc(next, file_);
    return false;
  }
  void bytes(void* to, size_t count) {
    if (count != 0 && std::fread(to, 1, count, file_) != count) throw std::runtime_error("case file ends early");
  }
  uint32_t u32() {
    uint32_t value;
    bytes(&value, sizeof value);
    return value;
  }
  double f64() {
    double value;
    bytes(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(u32(), '\0');
    bytes(value.data(), value.size());
    return value;
  }
  ShimTensor tensor() {
    ShimTensor value;
    value.kind = static_cast<char>(u32());
    value.shape.resize(u32());
    for (int64_t& size : value.shape) size = u32();
    const size_t count = static_cast<size_t>(shim_count(value.shape));
    if (value.kind == 'f') value.f.resize(count), bytes(value.f.data(), 4 * count);
    if (value.kind == 'i') value.i.resize(count), bytes(value.i.data(), 4 * count);
    if (value.kind == 'u') value.u.resize(count), bytes(value.u.data(), count);
    return value;
  }

 private:
  FILE* file_;
};

class Writer {
 public:
  explicit Writer(FILE* file) : file_(file) {}
  void bytes(const void* from, size_t count) {
    if (count != 0 && std::fwrite(from, 1, count, file_) != count) throw std::runtime_error("cannot write results");
  }
  void u32(uint32_t value) { bytes(&value, sizeof value); }
  void text(const std::string& value) {
    u32(static_cast<uint32_t>(value.size()));
    bytes(value.data(), value.size());
  }
  void tensor(const ShimTensor& value) {
    u32(static_cast<uint32_t>(value.kind));
    u32(static_cast<uint32_t>(value.shape.size()));
    for (const int64_t size : value.shape) u32(static_cast<uint32_t>(size));
    if (value.kind == 'f') bytes(value.f.data(), 4 * value.f.size());
    if (value.kind == 'i') bytes(value.i.data(), 4 * value.i.size());
    if (value.kind == 'u') bytes(value.u.data(), value.u.size());
  }
  void flush() { std::fflush(file_); }

 private:
  FILE* file_;
};

ShimCase read_case(Reader& reader) {
  ShimCase c;
  c.op = reader.text();
  for (uint32_t left = reader.u32(); left > 0; --left) {
    const std::string name = reader.text();
    c.in[name] = reader.tensor();
  }
  for (uint32_t left = reader.u32(); left > 0; --left) {
    const std::string name = reader.text();
    c.numbers[name] = reader.f64();
  }
  for (uint32_t left = reader.u32(); left > 0; --left) {
    const std::string name = reader.text();
    c.strings[name] = reader.text();
  }
  return c;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  FILE* in = std::fopen(arguments[1], "rb");
  FILE* out = std::fopen(arguments[2], "wb");
  if (in == nullptr || out == nullptr) return 2;
  Reader reader(in);
  Writer writer(out);
  while (!reader.at_end()) {
    ShimCase c = read_case(reader);
    std::string failure;
    try {
      run_case(c);
    } catch (const std::exception& error) {
      failure = std::string("!") + error.what();
      c.out.clear();
    }
    writer.text(failure);
    writer.u32(static_cast<uint32_t>(c.out.size()));
    for (const auto& [name, tensor] : c.out) {
      writer.text(name);
      writer.tensor(tensor);
    }
    writer.flush();
  }
  std::fclose(out);
  return 0;
}
