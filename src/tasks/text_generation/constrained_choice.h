// A constraint on the tokens of one generation: what it allows of the logits, and what it says about a token.
// Used by a generation between penalties and sampling; checks every answer of the constraint, which may be a
// stranger's.
#pragma once

#include <WinMLConversation.h>
#include <WinMLTokenizer.h>

#include <span>
#include <vector>

#include "com/com_ptr.h"
#include "text/sampling/token_sampler.h"

namespace owml {

class ConstrainedChoice {
 public:
  // Throws ERROR_NOT_SUPPORTED when the tokenizer names no vocabulary, E_INVALIDARG for a constraint over another one,
  // E_NOT_VALID_STATE for one that is completed or poisoned, or what they answer.
  ConstrainedChoice(IWinMLTokenConstraint* constraint, IWinMLTokenizer* tokenizer);

  // Whether sessions over this tokenizer take constraints.
  static bool Supported(IWinMLTokenizer* tokenizer);

  // The allowed candidates in ascending order of their tokens, at least one, until the next call. With `greedy` it may
  // be only the highest of them. Throws ERROR_INVALID_DATA for a logit that is no number, or what the constraint
  // answers when it allows none.
  std::span<const TokenCandidate> Filter(std::span<const float> logits, bool greedy);

  // What a token that Filter gave means for the generation, which takes it.
  struct Verdict {
    bool ends = false;
    bool shown = true;  // it belongs to the output
  };
  Verdict Accept(uint32_t token);

 private:
  void Collect(std::span<const float> logits);

  const ComPtr<IWinMLTokenConstraint> constraint_;
  const ComPtr<IWinMLTokenConstraintGreedySelector> selector_;  // null = not offered
  uint32_t tokens_ = 0;                                         // of the vocabulary
  std::vector<WINML_TOKEN_CONSTRAINT_CANDIDATE> buffer_;
  std::vector<TokenCandidate> allowed_;
};

}  // namespace owml
