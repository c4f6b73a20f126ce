// SPDX-License-Identifier: MIT
// text.stop: ends a stream of text at the first stop string, wherever token boundaries fall.
#pragma once
#include <string>
#include <string_view>
#include <vector>

class StopDetector {
 public:
  // stops: UTF-8, any number of them, none empty (EngineError).
  explicit StopDetector(std::vector<std::string> stops);
  // Takes the next chunk of text; returns the text that can't belong to a stop string any more.
  std::string append(std::string_view chunk);
  // The text still held back; empty after a stop.
  std::string finish();
  // True once a stop string was complete. Text from its first byte on is dropped, and so is every later chunk.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string pending_;  // the longest end of the text that a stop string begins with
  bool stopped_ = false;
};
