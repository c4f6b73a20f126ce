// Drives a composed text side for the tests: requests on stdin, replies on stdout, little-endian.
// Request: u32 op, u32 flags, u32 bytes, payload. Reply: u32 bytes, payload.
// op 1 encode (flags 1 add special, 2 parse special; payload text) -> ids. op 2 decode (flags 1 skip special; payload
// ids) -> per chunk u32 bytes and the bytes, the last chunk being what finish() gave.
#include <cstdio>
#include <cstring>
#include <iostream>

#include "runtime_context.h"
#include "text_tokenizer.h"

namespace {

void put(std::string& reply, const void* data, size_t bytes) { reply.append(static_cast<const char*>(data), bytes); }

std::string answer(const Tokenizer& tokenizer, uint32_t op, uint32_t flags, const std::string& payload) {
  std::string reply;
  if (op == 1) {
    const std::vector<int32_t> ids = encode(tokenizer, payload, (flags & 1) != 0, (flags & 2) != 0);
    put(reply, ids.data(), ids.size() * 4);
    return reply;
  }
  std::vector<int32_t> ids(payload.size() / 4);
  if (!ids.empty()) std::memcpy(ids.data(), payload.data(), payload.size());
  TextStream stream(tokenizer, (flags & 1) != 0);
  const auto put_chunk = [&](const std::string& chunk) {
    const uint32_t bytes = uint32_t(chunk.size());
    put(reply, &bytes, 4);
    reply += chunk;
  };
  for (const int32_t id : ids) put_chunk(stream.append(id));
  put_chunk(stream.finish());
  return reply;
}

}  // namespace

int main(int, char** arguments) {
  try {
    const auto tokenizer = load_tokenizer(arguments[1]);
    uint32_t head[3];
    while (std::fread(head, 4, 3, stdin) == 3) {
      std::string payload(head[2], '\0');
      if (head[2] != 0 && std::fread(payload.data(), 1, head[2], stdin) != head[2]) return 3;
      const std::string reply = answer(*tokenizer, head[0], head[1], payload);
      const uint32_t bytes = uint32_t(reply.size());
      std::fwrite(&bytes, 4, 1, stdout);
      std::fwrite(reply.data(), 1, reply.size(), stdout);
    }
  } catch (const EngineError& error) {
    std::cerr << error.what();
    return 1;
  }
  return 0;
}
