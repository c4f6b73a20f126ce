// SPDX-License-Identifier: MIT
// text.stop: stop strings across chunk boundaries, with the least possible hold-back; any CPU; exact.
// applies: any
#include "text_stop.h"
#include "runtime_context.h"

StopDetector::StopDetector(std::vector<std::string> stops) : stops_(std::move(stops)) {
  if (std::ranges::count(stops_, "") > 0) throw EngineError("stop: an empty string would end every text");
}

// Byte by byte, so that the cut doesn't depend on the chunks: the stop that is complete first wins, the longest of
// several that end together.
std::string StopDetector::append(std::string_view chunk) {
  std::string decided;
  for (size_t at = 0; at < chunk.size() && !stopped_; ++at) {
    pending_.push_back(chunk[at]);
    size_t matched = 0, held = 0;
    for (const std::string& stop : stops_) {
      size_t length = std::min(stop.size(), pending_.size());
      while (!pending_.ends_with(std::string_view(stop).substr(0, length))) --length;
      if (length == stop.size()) matched = std::max(matched, length);
      held = std::max(held, length);
    }
    stopped_ = matched > 0;
    decided.append(pending_, 0, pending_.size() - (stopped_ ? matched : held));
    pending_.erase(0, stopped_ ? pending_.size() : pending_.size() - held);
  }
  return decided;
}

std::string StopDetector::finish() { return std::exchange(pending_, {}); }
