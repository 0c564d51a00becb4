// What a method needs of a composition, and the three sources.
// See drafting.h.
#include "tasks/text_generation/drafting.h"

#include <algorithm>
#include <string>

#include "com/guard.h"

namespace owml {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
constexpr uint32_t kDefaultDrafts = 3;

WINML_SPECULATIVE_CAPABILITIES CapabilitiesOf(IWinMLStatefulStage* stage) {
  WINML_SPECULATIVE_CAPABILITIES capabilities = {};
  ClearThreadError();
  const HRESULT result = stage->GetSpeculativeCapabilities(&capabilities);
  if (FAILED(result)) {
    throw Error(kNotSupported, "the state owner stage does not tell what it can verify (GetSpeculativeCapabilities)");
  }
  return capabilities;
}

// Drafts that fit one step and that can all be taken back.
uint32_t MostDrafts(const WINML_SPECULATIVE_CAPABILITIES& capabilities) {
  const uint32_t rows = std::min(capabilities.maxProposedStepWidth, capabilities.maxLogitRowsPerStep);
  uint32_t most = rows == 0 ? 0 : rows - 1;
  if (capabilities.rollbackBound == WINML_SPECULATIVE_ROLLBACK_BOUND_BOUNDED) {
    most = static_cast<uint32_t>(std::min<UINT64>(most, capabilities.maxRollbackDepth));
  } else if (capabilities.rollbackBound != WINML_SPECULATIVE_ROLLBACK_BOUND_UNBOUNDED) {
    most = 0;
  }
  return most;
}

}  // namespace

Drafting::Drafting(const Composition& composition) : method_(composition.speculative.method) {
  const PhaseParts& parts = composition.prompt_phase();
  Require(composition.unified(), kNotSupported,
          "speculative decoding needs one pipeline for prompt and answer; this configuration has two");
  Require(parts.output_kind == WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS, kNotSupported,
          "speculative decoding needs logits; the pipeline samples by itself");
  Require(SameObject(composition.state_owner.Get(), parts.output.stage.Get()), kNotSupported,
          "speculative decoding needs a state owner stage that gives the logits");
  Require(SameObject(composition.state_owner.Get(), parts.token_input.stage.Get()), kNotSupported,
          "speculative decoding needs a state owner stage that takes the tokens");
  stage_ = Query<IWinMLStatefulStage>(composition.state_owner.Get());
  const WINML_SPECULATIVE_CAPABILITIES capabilities = CapabilitiesOf(stage_.Get());
  most_ = MostDrafts(capabilities);
  Require(most_ != 0, kNotSupported,
          "the stage cannot verify drafts: it gives no row of logits for each token, or cannot take tokens back");
  const uint32_t wanted = composition.speculative.draftTokenCount;
  most_ = std::min(most_, wanted == 0 ? kDefaultDrafts : wanted);
  if (method_ == WINML_TEXT_GENERATION_SPECULATIVE_METHOD_MODEL) {
    Require(capabilities.maxDraftTokens != 0, kNotSupported,
            "the stage has no draft predictor of its own; use PROMPT_LOOKUP or DRAFT_MODEL");
    most_ = std::min(most_, capabilities.maxDraftTokens);
  }
  pacing_.emplace(most_);
  if (method_ == WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL) {
    model_ = std::make_unique<DraftModel>(composition.draft, composition.token_target.Get());
    claim_ = PipelineClaim(composition.draft.pipeline.Get());
  }
}

std::vector<uint32_t> Drafting::Propose(std::span<const uint32_t> sequence, uint32_t count) {
  if (count == 0) return {};
  if (model_) return model_->Propose(sequence, count);
  if (method_ == WINML_TEXT_GENERATION_SPECULATIVE_METHOD_MODEL) return AskStage(sequence.back(), count);
  return lookup_.Propose(sequence, count);
}

std::vector<uint32_t> Drafting::AskStage(uint32_t pending, uint32_t count) const {
  std::vector<INT32> drafts(count);
  UINT32 given = 0;
  ClearThreadError();
  CheckResult(stage_->ProposeDraftTokens(static_cast<INT32>(pending), count, drafts.data(), &given),
              "the state owner stage", "IWinMLStatefulStage::ProposeDraftTokens");
  Require(
      given <= count, E_UNEXPECTED,
      "the state owner stage drafted " + std::to_string(given) + " tokens instead of at most " + std::to_string(count));
  std::vector<uint32_t> tokens;
  for (UINT32 i = 0; i < given && drafts[i] >= 0; ++i) tokens.push_back(static_cast<uint32_t>(drafts[i]));
  return tokens;
}

}  // namespace owml
