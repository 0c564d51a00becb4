// A smaller model that drafts: its sequence follows that of the target.
// Owned by a session whose configuration has a draft pipeline.
#pragma once

#include <span>
#include <vector>

#include "tasks/text_generation/composition.h"
#include "tasks/text_generation/step_output.h"
#include "tasks/text_generation/token_input.h"

namespace owml {

class DraftModel {
 public:
  // Looks at the stages only. Throws E_INVALIDARG for endpoints that are not what they should be.
  DraftModel(const DraftParts& parts, IWinMLExecutionTarget* token_target);
  ~DraftModel();

  // At most `most` tokens that it finds likeliest after `sequence`; none where it cannot follow. Throws what a run
  // answers.
  std::vector<uint32_t> Propose(std::span<const uint32_t> sequence, uint32_t most);

 private:
  bool Follow(std::span<const uint32_t> sequence);
  bool Fits(size_t tokens) const;
  void Run(std::span<const uint32_t> tokens);

  const DraftParts parts_;
  TokenInput input_;
  StepOutput output_;
  ComPtr<IWinMLStatefulStage> state_;
  std::vector<uint32_t> consumed_;
  uint32_t proposed_ = 0;  // drafts of the last proposal
  bool published_ = false;
  bool lost_ = false;  // it cannot go back, so that it follows no more
};

}  // namespace owml
