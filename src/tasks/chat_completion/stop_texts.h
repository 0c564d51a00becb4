// Finds the texts that end an answer in a stream of fragments, wherever the fragments are cut.
// Used by a chat completion between the generated text and the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace owml {

class StopTexts {
 public:
  // None of `stops` is empty.
  explicit StopTexts(std::vector<std::wstring> stops) : stops_(std::move(stops)) {}

  // The text that is certain to stand before any stop; what could begin one is held back. Nothing once stopped.
  std::wstring Push(std::wstring_view text);

  // No more text comes: what was held back.
  std::wstring TakeRest();

  // A stop has come up. Of several, the one that is complete first counts, so that the cuts do not matter.
  bool stopped() const { return stopped_; }

 private:
  // The longest end of held_ that begins a stop.
  size_t PossibleBeginning() const;

  const std::vector<std::wstring> stops_;
  std::wstring held_;
  bool stopped_ = false;
};

}  // namespace owml
