// Drafts what followed the last time when the sequence ended the same way.
// One source of draft tokens for speculative decoding; plain, without a model.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace owml {

class PromptLookup {
 public:
  // Of all earlier places where the last two tokens occur, the one that shares the longest ending with the sequence,
  // and the latest of several, says what comes next: at most `most` tokens, none without such a place. `sequence` goes
  // on from the one of the call before.
  std::vector<uint32_t> Propose(std::span<const uint32_t> sequence, uint32_t most);

 private:
  // Ends of pairs of tokens (the position behind), in order.
  std::unordered_map<uint64_t, std::vector<uint32_t>> ends_;
  size_t indexed_ = 0;  // tokens of the sequence
};

}  // namespace owml
