// Sequence operations and the life of a pending multi-token step.
// See stage_state.h.
#include "runtime/stage_state.h"

#include <algorithm>

#include "com/guard.h"

namespace owml {
namespace {

SequenceState& StateOf(const StageNode& node) {
  SequenceState* state = node.session ? node.session->sequence_state() : nullptr;
  Require(state != nullptr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), node.label + " keeps no sequence state");
  return *state;
}

SpeculativeSteps& StepsOf(const StageNode& node) {
  SpeculativeSteps* steps = node.session ? node.session->speculative_steps() : nullptr;
  Require(steps != nullptr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), node.label + " has no speculative operations");
  return *steps;
}

}  // namespace

HRESULT StageStateMethods::GetSequenceCapacity(UINT64* capacity) noexcept {
  return Guard("IWinMLStatefulStage::GetSequenceCapacity", [&] {
    RequireOut(capacity, "capacity");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    *capacity = StateOf(*stage().node).capacity();
  });
}

HRESULT StageStateMethods::GetDeclaredSequenceCapacity(WINML_SEQUENCE_CAPACITY_DISCLOSURE* disclosure,
                                                       UINT64* capacity) noexcept {
  return Guard("IWinMLStatefulStage::GetDeclaredSequenceCapacity", [&] {
    if (disclosure) *disclosure = WINML_SEQUENCE_CAPACITY_DISCLOSURE_UNKNOWN;
    if (capacity) *capacity = 0;
    RequirePointer(disclosure, "disclosure");
    RequirePointer(capacity, "capacity");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    const std::optional<uint64_t> declared = StateOf(*stage().node).declared_capacity();
    if (!declared) return;
    *disclosure = WINML_SEQUENCE_CAPACITY_DISCLOSURE_ARTIFACT_DECLARED;
    *capacity = *declared;
  });
}

HRESULT StageStateMethods::GetSequencePosition(UINT64* position) noexcept {
  return Guard("IWinMLStatefulStage::GetSequencePosition", [&] {
    RequireOut(position, "position");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    *position = StateOf(*stage().node).position();
  });
}

// A refused rewind or resize changes nothing, so a pending step survives it.
HRESULT StageStateMethods::RewindTo(UINT64 position) noexcept {
  return Guard("IWinMLStatefulStage::RewindTo", [&] {
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    StateOf(*stage().node).RewindTo(position);
    stage().node->step_pending = false;
  });
}

HRESULT StageStateMethods::SetSequenceCapacity(UINT64 capacity) noexcept {
  return Guard("IWinMLStatefulStage::SetSequenceCapacity", [&] {
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    StateOf(*stage().node).SetCapacity(capacity);
    stage().node->step_pending = false;
  });
}

HRESULT StageStateMethods::GetSpeculativeCapabilities(WINML_SPECULATIVE_CAPABILITIES* capabilities) noexcept {
  return Guard("IWinMLStatefulStage::GetSpeculativeCapabilities", [&] {
    RequireOut(capabilities, "capabilities");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    const SpeculativeLimits limits = StepsOf(*stage().node).limits();
    capabilities->maxProposedStepWidth = limits.max_step_width;
    capabilities->maxLogitRowsPerStep = limits.max_logit_rows;
    capabilities->rollbackBound = static_cast<WINML_SPECULATIVE_ROLLBACK_BOUND>(limits.rollback_bound);
    capabilities->maxRollbackDepth = limits.max_rollback_depth;
    capabilities->residency = static_cast<WINML_SPECULATIVE_RESIDENCY>(limits.residency);
    capabilities->maxDraftTokens = limits.max_draft_tokens;
  });
}

HRESULT StageStateMethods::StepAllPositions(const INT32* tokens, UINT32 tokenCount, FLOAT* logits,
                                            UINT64 logitCapacityElements, UINT32* rowsWritten,
                                            UINT32* rowStride) noexcept {
  return Guard("IWinMLStatefulStage::StepAllPositions", [&] {
    if (rowsWritten) *rowsWritten = 0;
    if (rowStride) *rowStride = 0;
    RequirePointer(rowsWritten, "rowsWritten");
    RequirePointer(rowStride, "rowStride");
    if (tokenCount != 0) RequirePointer(tokens, "tokens");
    if (logitCapacityElements != 0) RequirePointer(logits, "logits");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    StageNode& node = *stage().node;
    SpeculativeSteps& steps = StepsOf(node);
    const SpeculativeLimits limits = steps.limits();
    const uint32_t widest = std::min(limits.max_step_width, limits.max_logit_rows);
    Require(widest != 0, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            node.label + " cannot verify several positions in one step");
    // Spec-open: a step of no tokens is an error.
    Require(
        tokenCount != 0 && tokenCount <= widest, E_INVALIDARG,
        node.label + ": a step takes 1 to " + std::to_string(widest) + " tokens, got " + std::to_string(tokenCount));
    const uint64_t stride = steps.row_stride();
    const uint64_t needed = stride * tokenCount;  // two 32-bit factors
    Require(logitCapacityElements >= needed, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
            node.label + ": " + std::to_string(tokenCount) + " rows need " + std::to_string(needed) +
                " elements, logits has room for " + std::to_string(logitCapacityElements));
    node.step_pending = false;
    steps.StepAllPositions(std::span(tokens, tokenCount), std::span(logits, static_cast<size_t>(needed)));
    node.step_pending = true;
    node.pending_step = tokenCount;
    *rowsWritten = tokenCount;
    *rowStride = static_cast<UINT32>(stride);
  });
}

HRESULT StageStateMethods::CommitAcceptedPrefix(UINT32 acceptedCount, UINT64* position) noexcept {
  return Guard("IWinMLStatefulStage::CommitAcceptedPrefix", [&] {
    RequireOut(position, "position");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    StageNode& node = *stage().node;
    SpeculativeSteps& steps = StepsOf(node);
    Require(node.step_pending, E_NOT_VALID_STATE, node.label + " has no pending step");
    Require(acceptedCount <= node.pending_step, E_INVALIDARG,
            node.label + ": " + std::to_string(acceptedCount) + " tokens accepted of a step of " +
                std::to_string(node.pending_step));
    steps.CommitAcceptedPrefix(acceptedCount);
    node.step_pending = false;
    *position = StateOf(node).position();
  });
}

HRESULT StageStateMethods::ProposeDraftTokens(INT32 pendingToken, UINT32 maxTokenCount, INT32* tokens,
                                              UINT32* tokenCount) noexcept {
  return Guard("IWinMLStatefulStage::ProposeDraftTokens", [&] {
    RequireOut(tokenCount, "tokenCount");
    if (maxTokenCount != 0) RequirePointer(tokens, "tokens");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    StageNode& node = *stage().node;
    SpeculativeSteps& steps = StepsOf(node);
    const uint32_t most = steps.limits().max_draft_tokens;
    Require(most != 0, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), node.label + " has no draft predictor");
    *tokenCount = steps.ProposeDraftTokens(pendingToken, std::span(tokens, std::min(maxTokenCount, most)));
  });
}

}  // namespace owml
