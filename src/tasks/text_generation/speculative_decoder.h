// Speculative decoding of one generation: drafts, one step over all of them, and the tokens that the sampler takes.
// Used by a generation in place of single steps; the tokens are those that single steps would give.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tasks/text_generation/sequence.h"
#include "text/sampling/sampling_chain.h"

namespace owml {

class SpeculativeDecoder {
 public:
  // `ends` says whether a token ends the generation. `sequence` has a drafting and holds all but the last token of
  // `history`, which is the pending one.
  SpeculativeDecoder(Sequence* sequence, std::function<bool(uint32_t)> ends);

  // The next token, which the chain has accepted unless it ends the generation. `history` is prompt and answer so far.
  // A step gives at most `most` tokens and leaves the sequence at most `room` tokens longer.
  uint32_t Next(std::span<const uint32_t> history, uint64_t most, uint64_t room, SamplingChain* chain);

  // Tokens that the sequence holds and Next has not given.
  size_t ahead() const { return ready_.empty() ? 0 : ready_.size() - 1; }

  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS statistics() const { return statistics_; }

 private:
  std::vector<uint32_t> Draft(std::span<const uint32_t> history, uint64_t most);

  Sequence* const sequence_;
  const std::function<bool(uint32_t)> ends_;
  std::deque<uint32_t> ready_;  // sampled, not given yet
  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS statistics_;
};

}  // namespace owml
