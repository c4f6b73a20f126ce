// SPDX-License-Identifier: MIT
// text.stop: ends a stream of text at the first stop string, wherever token boundaries fall.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class StopDetector {
 public:
  explicit StopDetector(std::vector<std::string> stops);  // UTF-8; EngineError where one is empty
  std::string append(std::string_view chunk);             // the text that can't belong to a stop string any more
  std::string finish();                                   // the text still held back; empty after a stop
  bool stopped() const { return stopped_; }               // text from the first byte of a stop string on is dropped

 private:
  std::vector<std::string> stops_;
  std::string pending_;  // the longest end of the text that a stop string begins with
  bool stopped_ = false;
};
