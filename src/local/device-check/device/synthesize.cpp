// SPDX-License-Identifier: MIT
// Fills the tensors of safetensors files with seeded normal values in bf16, on all cores. Reads lines from stdin:
//   path  offset in the file  number of elements  mean  spread  key
// A value depends on its key and index alone, so that the number of threads changes nothing. The files exist already.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Tensor {
  std::string path;
  int64_t offset, count;
  double mean, spread;
  uint64_t key;
};

struct Piece {
  const Tensor* tensor;
  int64_t first, count;
};

constexpr int64_t piece_elements = int64_t{1} << 22;

// splitmix64 (Steele, Lea, Flood 2014) as a function of a counter.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// The sum of four 16-bit uniforms, scaled to variance 1: near enough to a normal, and never beyond 3.5.
float normal(uint64_t bits) {
  const int64_t sum = static_cast<int64_t>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return static_cast<float>(sum - 2 * 65535) * (1.7320508f / 65536.0f);
}

uint16_t to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

bool write_piece(const Piece& piece, std::vector<uint16_t>& buffer) {
  const Tensor& tensor = *piece.tensor;
  buffer.resize(static_cast<size_t>(piece.count));
  for (int64_t i = 0; i < piece.count; ++i) {
    const uint64_t bits = mix(tensor.key ^ mix(static_cast<uint64_t>(piece.first + i)));
    buffer[static_cast<size_t>(i)] =
        to_bf16(static_cast<float>(tensor.mean) + static_cast<float>(tensor.spread) * normal(bits));
  }
  const int file = open(tensor.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const char* from = reinterpret_cast<const char*>(buffer.data());
  int64_t left = 2 * piece.count, at = tensor.offset + 2 * piece.first;
  while (left > 0) {
    const ssize_t written = pwrite(file, from, static_cast<size_t>(left), at);
    if (written <= 0) break;
    from += written, at += written, left -= written;
  }
  return close(file) == 0 && left == 0;
}

}  // namespace

int main() {
  std::vector<Tensor> tensors;
  for (Tensor tensor; std::cin >> tensor.path >> tensor.offset >> tensor.count >> tensor.mean >> tensor.spread >> tensor.key;)
    tensors.push_back(tensor);
  std::vector<Piece> pieces;
  for (const Tensor& tensor : tensors)
    for (int64_t first = 0; first < tensor.count; first += piece_elements)
      pieces.push_back({&tensor, first, std::min(piece_elements, tensor.count - first)});
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    std::vector<uint16_t> buffer;
    for (size_t index; !failed && (index = next++) < pieces.size();)
      if (!write_piece(pieces[index], buffer)) failed = true;
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (failed) std::perror("cannot write weights");
  return failed ? 1 : 0;
}
