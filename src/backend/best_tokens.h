// The highest of a row of logits, and the ability of a session to give them without the row.
// Returned by an accessor of BackendSession; null where a session lacks it.
#pragma once

#include <cstdint>
#include <span>

namespace owml {

struct InputValue;

struct TokenLogit {
  int32_t token = 0;
  float logit = 0;
};

class BestTokens {
 public:
  virtual ~BestTokens() = default;

  virtual uint32_t max_best_tokens() const = 0;

  // A run (BackendSession::Run) that writes no output and fills `best` with the highest logits of the last position in
  // descending order, the lowest token first among equals; one that is not a number or plus infinity comes before all.
  // Throws as Run does, and E_INVALIDARG for an empty list or one longer than max_best_tokens().
  virtual void RunForBest(std::span<const InputValue> inputs, std::span<TokenLogit> best) = 0;
};

}  // namespace owml
