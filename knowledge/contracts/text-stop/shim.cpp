// SPDX-License-Identifier: MIT
#include "text_stop.h"

#include "shim.h"

void run_case(ShimCase& c) {
  const auto text_of = [&](const char* name) { return std::string(c.in.at(name).u.begin(), c.in.at(name).u.end()); };
  std::vector<std::string> stops(1);
  for (const char byte : text_of("stops")) {
    if (byte == '\n') {
      stops.emplace_back();
    } else {
      stops.back().push_back(byte);
    }
  }
  if (stops.back().empty()) stops.pop_back();
  const std::string text = text_of("text");
  const size_t size = static_cast<size_t>(c.numbers.at("chunk"));
  StopDetector stop(stops);
  std::string out;
  ShimTensor shown = shim_i32({static_cast<int64_t>((text.size() + size - 1) / size + 1)});
  for (size_t at = 0, index = 0; at < text.size(); at += size, ++index) {
    out += stop.append(std::string_view(text).substr(at, size));
    shown.i[index] = static_cast<int32_t>(out.size());
  }
  out += stop.finish();
  shown.i.back() = static_cast<int32_t>(out.size());
  c.out["text"] = shim_u8({out.begin(), out.end()});
  c.out["shown"] = shown;
  c.out["stopped"] = shim_i32({1});
  c.out["stopped"].i[0] = stop.stopped() ? 1 : 0;
}
