// Where the draft tokens of a session come from, and how many its stage can verify at once.
// Made with a session whose configuration names a speculative method.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tasks/text_generation/composition.h"
#include "tasks/text_generation/draft_model.h"
#include "tasks/text_generation/draft_pacing.h"
#include "tasks/text_generation/pipeline_claim.h"
#include "tasks/text_generation/prompt_lookup.h"

namespace owml {

class Drafting {
 public:
  // Throws ERROR_NOT_SUPPORTED when the method cannot run on a checked composition, E_INVALIDARG for draft endpoints
  // that are not what they should be, ERROR_BUSY when another session has the draft pipeline.
  explicit Drafting(const Composition& composition);

  WINML_TEXT_GENERATION_SPECULATIVE_METHOD method() const { return method_; }

  // Drafts of one step.
  uint32_t most() const { return most_; }

  // Another generation begins.
  void Begin() { lookup_ = PromptLookup(); }

  // Kept from one generation to the next, because what steps take stays the same.
  DraftPacing& pacing() { return *pacing_; }

  // Tokens to follow `sequence`, whose last token the target has not consumed yet; at most `count`, perhaps none.
  std::vector<uint32_t> Propose(std::span<const uint32_t> sequence, uint32_t count);

 private:
  std::vector<uint32_t> AskStage(uint32_t pending, uint32_t count) const;

  const WINML_TEXT_GENERATION_SPECULATIVE_METHOD method_;
  ComPtr<IWinMLStatefulStage> stage_;
  uint32_t most_ = 0;
  PromptLookup lookup_;
  std::optional<DraftPacing> pacing_;
  PipelineClaim claim_;
  std::unique_ptr<DraftModel> model_;
};

}  // namespace owml
