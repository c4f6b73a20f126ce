// SPDX-License-Identifier: MIT
// Frames of the harness protocol, version 1, on file descriptors 3 (in) and 4 (out): the side of the llama.cpp peer.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

inline bool read_fully(void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(3, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

inline void write_fully(const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = write(4, at, bytes);
    if (put <= 0) std::exit(1);
    at += put;
    bytes -= static_cast<size_t>(put);
  }
}

struct Header {
  uint32_t magic;
  uint16_t version, opcode;
  uint32_t sequence, bytes;
};
static_assert(sizeof(Header) == 16);
constexpr uint32_t frame_magic = 0x3148494D;

struct Payload {
  std::string bytes;
  size_t at = 0;
  uint32_t u32() {
    if (at + 4 > bytes.size()) throw std::runtime_error("llama.cpp: request is too short");
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    at += 4;
    return value;
  }
  std::vector<int32_t> list(size_t count) {
    std::vector<int32_t> values;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<int32_t>(u32()));
    return values;
  }
};

struct Reply {
  Header request;
  void send(uint16_t opcode, const std::string& payload) const {
    const Header header{frame_magic, 1, opcode, request.sequence, static_cast<uint32_t>(payload.size())};
    // One write for small frames: the harness times their arrival.
    std::string frame(reinterpret_cast<const char*>(&header), sizeof header);
    frame += payload;
    write_fully(frame.data(), frame.size());
  }
  void done(const std::string& payload) const { send(static_cast<uint16_t>(request.opcode | 0x8000), payload); }
};

inline std::string bytes_of(const void* data, size_t count) { return std::string(static_cast<const char*>(data), count); }
inline std::string u32_bytes(uint32_t value) { return bytes_of(&value, 4); }
