// A constraint as an application might write it: a test says which tokens may follow which.
// Used by tests of constrained generation, of text and of chats.
#pragma once

#include <WinMLConversation.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <vector>

#include "com/com_ptr.h"
#include "tasks/text_generation/stranger_tokenizer.h"

namespace owml::test {

inline constexpr HRESULT kNoLegalToken = static_cast<HRESULT>(0x80004321);

inline WINML_CONSTRAINT_VOCABULARY_IDENTITY StrangerVocabularyIdentity() {
  WINML_CONSTRAINT_VOCABULARY_IDENTITY identity = {kStrangerVocabulary, {}};
  std::memset(identity.sha256, 0x5A, sizeof identity.sha256);
  return identity;
}

class StrangerConstraint : public IWinMLTokenConstraint {
 public:
  virtual ~StrangerConstraint() = default;

  // What it does.
  std::function<bool(const std::vector<UINT32>& accepted, UINT32 token)> allows = [](const auto&, UINT32) {
    return true;
  };
  std::function<bool(UINT32 token)> stops = [](UINT32) { return false; };
  bool preserves_stops = false;
  size_t completes_after = SIZE_MAX;  // tokens
  WINML_CONSTRAINT_VOCABULARY_IDENTITY identity = StrangerVocabularyIdentity();
  WINML_TOKEN_CONSTRAINT_STATUS status = WINML_TOKEN_CONSTRAINT_STATUS_ACTIVE;
  HRESULT identity_result = S_OK;
  HRESULT accept_result = S_OK;
  bool poisoned_by_accept = false;
  bool keeps_too_many = false;
  bool keeps_strangers = false;

  // What it saw.
  std::vector<UINT32> accepted;
  std::vector<UINT32> filtered;  // candidates of each call
  std::vector<WINML_TOKEN_CONSTRAINT_CANDIDATE> last_candidates;
  ULONG references() const { return references_; }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLTokenConstraint)) return E_NOINTERFACE;
    *object = static_cast<IWinMLTokenConstraint*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* its) override {
    *its = identity;
    return identity_result;
  }
  HRESULT STDMETHODCALLTYPE FilterCandidates(WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER* buffer) override {
    filtered.push_back(buffer->candidateCount);
    last_candidates.assign(buffer->candidates, buffer->candidates + buffer->candidateCount);
    UINT32 kept = 0;
    for (UINT32 i = 0; i < buffer->candidateCount; ++i) {
      if (allows(accepted, buffer->candidates[i].tokenId)) buffer->candidates[kept++] = buffer->candidates[i];
    }
    buffer->candidateCount = keeps_too_many ? buffer->candidateCapacity + 1 : kept;
    if (keeps_strangers) buffer->candidates[0].tokenId = 4000;
    return kept == 0 ? kNoLegalToken : S_OK;
  }
  HRESULT STDMETHODCALLTYPE AcceptToken(UINT32 token) override {
    if (FAILED(accept_result)) return accept_result;
    accepted.push_back(token);
    if (accepted.size() >= completes_after) status = WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED;
    if (poisoned_by_accept) status = WINML_TOKEN_CONSTRAINT_STATUS_POISONED;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE IsStopToken(UINT32 token, BOOL* is_stop) override {
    *is_stop = stops(token) ? TRUE : FALSE;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE IsPreservedToken(UINT32 token, BOOL* is_preserved) override {
    *is_preserved = preserves_stops && stops(token) ? TRUE : FALSE;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetState(WINML_TOKEN_CONSTRAINT_STATE* state) override {
    *state = {status, WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE, accepted.size(), 0, 0};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Reset() override {
    accepted.clear();
    status = WINML_TOKEN_CONSTRAINT_STATUS_ACTIVE;
    return S_OK;
  }

 private:
  std::atomic<ULONG> references_{1};
};

// The same, which can pick the highest allowed candidate by itself.
class StrangerSelector final : public StrangerConstraint, public IWinMLTokenConstraintGreedySelector {
 public:
  int selections = 0;
  UINT32 selects = UINT32_MAX;  // instead of what is right

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (iid != __uuidof(IWinMLTokenConstraintGreedySelector)) return StrangerConstraint::QueryInterface(iid, object);
    *object = static_cast<IWinMLTokenConstraintGreedySelector*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return StrangerConstraint::AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return StrangerConstraint::Release(); }

  HRESULT STDMETHODCALLTYPE SelectHighestAllowedCandidate(UINT32 count,
                                                          const WINML_TOKEN_CONSTRAINT_CANDIDATE* candidates,
                                                          UINT32* token) override {
    ++selections;
    const WINML_TOKEN_CONSTRAINT_CANDIDATE* best = nullptr;
    for (UINT32 i = 0; i < count; ++i) {
      if (!allows(accepted, candidates[i].tokenId)) continue;
      if (!best || candidates[i].logit > best->logit) best = &candidates[i];
    }
    if (!best) return kNoLegalToken;
    *token = selects != UINT32_MAX ? selects : best->tokenId;
    return S_OK;
  }
};

// A tokenizer that names its vocabulary.
class ConstrainingTokenizer : public StrangerTokenizer, public IWinMLTokenizerConstraintFactory {
 public:
  HRESULT identity_result = S_OK;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (iid != __uuidof(IWinMLTokenizerConstraintFactory)) return StrangerTokenizer::QueryInterface(iid, object);
    *object = static_cast<IWinMLTokenizerConstraintFactory*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return StrangerTokenizer::AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return StrangerTokenizer::Release(); }

  HRESULT STDMETHODCALLTYPE GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* identity) override {
    *identity = StrangerVocabularyIdentity();
    return identity_result;
  }
  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) override {
    *tokenizer = AddedRef<IWinMLTokenizer>(this);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateConstraint(IWinMLConversationFormatResult*, IWinMLTokenConstraint** made) override {
    *made = nullptr;
    return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
  }
};

}  // namespace owml::test
