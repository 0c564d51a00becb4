// The constraint of one generation: a skin over ConstraintMatcher, bound to its creation thread.
// Made by ConstraintFactory.
#pragma once

#include <WinMLConversation.h>

#include <memory>

#include "com/implements.h"
#include "com/thread_binding.h"
#include "text/constraint/constraint_matcher.h"

namespace owml {

// No token that the constraint allows is among the candidates. Spec-open: the reference names no value.
inline constexpr HRESULT kNoLegalToken = HRESULT_FROM_WIN32(ERROR_NO_MATCH);

WINML_CONSTRAINT_VOCABULARY_IDENTITY VocabularyIdentity(const text::ConstraintVocabulary& vocabulary);

class TokenConstraint final
    : public Implements<TokenConstraint, IWinMLTokenConstraint, IWinMLTokenConstraintGreedySelector> {
 public:
  explicit TokenConstraint(std::shared_ptr<const text::CompiledConstraint> constraint);

  // IWinMLTokenConstraint
  HRESULT STDMETHODCALLTYPE GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* identity) noexcept override;
  HRESULT STDMETHODCALLTYPE FilterCandidates(WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER* candidates) noexcept override;
  HRESULT STDMETHODCALLTYPE AcceptToken(UINT32 tokenId) noexcept override;
  HRESULT STDMETHODCALLTYPE IsStopToken(UINT32 tokenId, BOOL* isStop) noexcept override;
  HRESULT STDMETHODCALLTYPE IsPreservedToken(UINT32 tokenId, BOOL* isPreserved) noexcept override;
  HRESULT STDMETHODCALLTYPE GetState(WINML_TOKEN_CONSTRAINT_STATE* state) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

  // IWinMLTokenConstraintGreedySelector
  HRESULT STDMETHODCALLTYPE SelectHighestAllowedCandidate(UINT32 candidateCount,
                                                          const WINML_TOKEN_CONSTRAINT_CANDIDATE* candidates,
                                                          UINT32* selectedTokenId) noexcept override;

 private:
  // Throws E_INVALIDARG for an id beyond the vocabulary.
  void RequireToken(UINT32 id) const;

  ThreadBinding thread_;
  text::ConstraintMatcher matcher_;
};

}  // namespace owml
