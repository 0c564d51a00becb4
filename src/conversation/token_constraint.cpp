// Filtering, selecting and accepting tokens for applications.
// Reached through IWinMLTokenConstraint and its selector.
#include "conversation/token_constraint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "com/guard.h"

namespace owml {

WINML_CONSTRAINT_VOCABULARY_IDENTITY VocabularyIdentity(const text::ConstraintVocabulary& vocabulary) {
  WINML_CONSTRAINT_VOCABULARY_IDENTITY identity = {};
  identity.tokenCount = vocabulary.limit();
  const Sha256::Digest& digest = vocabulary.Identity();
  std::copy(digest.begin(), digest.end(), identity.sha256);
  return identity;
}

TokenConstraint::TokenConstraint(std::shared_ptr<const text::CompiledConstraint> constraint)
    : matcher_(std::move(constraint)) {}

void TokenConstraint::RequireToken(UINT32 id) const {
  const UINT32 limit = matcher_.constraint().vocabulary->limit();
  Require(id < limit, E_INVALIDARG,
          "the token " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(limit));
}

HRESULT TokenConstraint::GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* identity) noexcept {
  return Guard("IWinMLTokenConstraint::GetVocabularyIdentity", [&] {
    RequireOut(identity, "identity");
    thread_.Check();
    *identity = VocabularyIdentity(*matcher_.constraint().vocabulary);
  });
}

HRESULT TokenConstraint::FilterCandidates(WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER* candidates) noexcept {
  return Guard("IWinMLTokenConstraint::FilterCandidates", [&] {
    RequirePointer(candidates, "candidates");
    thread_.Check();
    const UINT32 count = candidates->candidateCount;
    Require(count <= candidates->candidateCapacity, E_INVALIDARG,
            "candidateCount is " + std::to_string(count) + ", more than the capacity of " +
                std::to_string(candidates->candidateCapacity));
    if (count > 0) RequirePointer(candidates->candidates, "candidates->candidates");
    candidates->candidateCount = 0;  // until it is known
    WINML_TOKEN_CONSTRAINT_CANDIDATE* const list = candidates->candidates;
    for (UINT32 i = 0; i < count; ++i) RequireToken(list[i].tokenId);
    const text::TokenSet& allowed = matcher_.Allowed();
    UINT32 kept = 0;
    for (UINT32 i = 0; i < count; ++i) {
      if (allowed.Has(list[i].tokenId)) list[kept++] = list[i];
    }
    Require(kept > 0, kNoLegalToken,
            "the constraint allows none of the " + std::to_string(count) + " candidates at this place");
    candidates->candidateCount = kept;
  });
}

HRESULT TokenConstraint::AcceptToken(UINT32 tokenId) noexcept {
  return Guard("IWinMLTokenConstraint::AcceptToken", [&] {
    thread_.Check();
    matcher_.Accept(tokenId);
  });
}

HRESULT TokenConstraint::IsStopToken(UINT32 tokenId, BOOL* isStop) noexcept {
  return Guard("IWinMLTokenConstraint::IsStopToken", [&] {
    RequireOut(isStop, "isStop");
    thread_.Check();
    RequireToken(tokenId);
    *isStop = matcher_.IsStop(tokenId) ? TRUE : FALSE;
  });
}

HRESULT TokenConstraint::IsPreservedToken(UINT32 tokenId, BOOL* isPreserved) noexcept {
  return Guard("IWinMLTokenConstraint::IsPreservedToken", [&] {
    RequireOut(isPreserved, "isPreserved");
    thread_.Check();
    RequireToken(tokenId);
    *isPreserved = matcher_.IsPreserved(tokenId) ? TRUE : FALSE;
  });
}

HRESULT TokenConstraint::GetState(WINML_TOKEN_CONSTRAINT_STATE* state) noexcept {
  return Guard("IWinMLTokenConstraint::GetState", [&] {
    RequireOut(state, "state");
    thread_.Check();
    switch (matcher_.status()) {
      case text::ConstraintMatcher::Status::kActive:
        state->status = WINML_TOKEN_CONSTRAINT_STATUS_ACTIVE;
        break;
      case text::ConstraintMatcher::Status::kCompleted:
        state->status = WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED;
        break;
      case text::ConstraintMatcher::Status::kPoisoned:
        state->status = WINML_TOKEN_CONSTRAINT_STATUS_POISONED;
        break;
    }
    int flags = WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE;
    if (matcher_.awaiting_trigger()) flags |= WINML_TOKEN_CONSTRAINT_STATE_FLAG_AWAITING_TRIGGER;
    if (matcher_.CanStop()) flags |= WINML_TOKEN_CONSTRAINT_STATE_FLAG_CAN_STOP;
    state->stateFlags = static_cast<WINML_TOKEN_CONSTRAINT_STATE_FLAGS>(flags);
    state->acceptedTokenCount = matcher_.accepted();
    state->peakStackCount = matcher_.peak_items();
    state->peakStackDepth = matcher_.peak_depth();
  });
}

HRESULT TokenConstraint::Reset() noexcept {
  return Guard("IWinMLTokenConstraint::Reset", [&] {
    thread_.Check();
    matcher_.Reset();
  });
}

HRESULT TokenConstraint::SelectHighestAllowedCandidate(UINT32 candidateCount,
                                                       const WINML_TOKEN_CONSTRAINT_CANDIDATE* candidates,
                                                       UINT32* selectedTokenId) noexcept {
  return Guard("IWinMLTokenConstraintGreedySelector::SelectHighestAllowedCandidate", [&] {
    RequireOut(selectedTokenId, "selectedTokenId");
    if (candidateCount > 0) RequirePointer(candidates, "candidates");  // Spec-open: none need no array
    thread_.Check();
    for (UINT32 i = 0; i < candidateCount; ++i) {
      RequireToken(candidates[i].tokenId);
      Require(i == 0 || candidates[i - 1].tokenId < candidates[i].tokenId, E_INVALIDARG,
              "the candidates are not ordered by token: place " + std::to_string(i));
    }
    const text::TokenSet& allowed = matcher_.Allowed();
    const WINML_TOKEN_CONSTRAINT_CANDIDATE* best = nullptr;
    for (UINT32 i = 0; i < candidateCount; ++i) {
      const WINML_TOKEN_CONSTRAINT_CANDIDATE& candidate = candidates[i];
      if (std::isnan(candidate.logit) || candidate.logit == -std::numeric_limits<float>::infinity()) continue;
      if (best && !(candidate.logit > best->logit)) continue;
      if (allowed.Has(candidate.tokenId)) best = &candidate;
    }
    Require(best != nullptr, kNoLegalToken, "the constraint allows none of the candidates at this place");
    *selectedTokenId = best->tokenId;
  });
}

}  // namespace owml
