// Optional abilities of a session that keeps a token sequence between runs.
// Returned by accessors of BackendSession; null where a session lacks them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace owml {

// Position bookkeeping and capacity. Positions and capacities count tokens.
class SequenceState {
 public:
  virtual ~SequenceState() = default;

  // Effective capacity. Throws ERROR_NOT_SUPPORTED when the session cannot tell.
  virtual uint64_t capacity() const = 0;
  // What the artifact declares; nothing when it is silent.
  virtual std::optional<uint64_t> declared_capacity() const = 0;
  virtual uint64_t position() const = 0;

  // Keeps the first `position` tokens. A refusal (E_INVALIDARG) leaves the state as it was.
  virtual void RewindTo(uint64_t position) = 0;

  // Before the first run nothing is lost; later the state is reset. E_INVALIDARG, or ERROR_NOT_SUPPORTED.
  virtual void SetCapacity(uint64_t capacity) = 0;
};

// Verification of several tokens in one step; position bookkeeping stays with SequenceState.
struct SpeculativeLimits {
  uint32_t max_step_width = 0;  // tokens of one StepAllPositions; 0 = cannot
  uint32_t max_logit_rows = 0;
  int32_t rollback_bound = 0;  // WINML_SPECULATIVE_ROLLBACK_BOUND
  uint64_t max_rollback_depth = 0;
  int32_t residency = 0;          // WINML_SPECULATIVE_RESIDENCY
  uint32_t max_draft_tokens = 0;  // 0 = no predictor
};

class SpeculativeSteps {
 public:
  virtual ~SpeculativeSteps() = default;

  virtual SpeculativeLimits limits() const = 0;
  virtual uint32_t row_stride() const = 0;  // floats of one logits row = vocabulary size

  // Appends `tokens` and writes one row per token to `logits` (tokens.size() * row_stride() floats). On failure the
  // position is unchanged. ERROR_INSUFFICIENT_BUFFER past the capacity, E_INVALIDARG for an id outside the vocabulary.
  virtual void StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) = 0;

  // Keeps the first `accepted` tokens of the pending step. E_NOT_VALID_STATE without one, E_INVALIDARG when too large.
  virtual void CommitAcceptedPrefix(uint32_t accepted) = 0;

  // At most `max_count` tokens after `pending`; returns how many were written. ERROR_NOT_SUPPORTED without a predictor.
  virtual uint32_t ProposeDraftTokens(int32_t pending, std::span<int32_t> tokens) = 0;
};

}  // namespace owml
