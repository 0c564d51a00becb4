// A sequence that goes on is continued; one that differs is rewound where the stage allows it; else it begins anew.
// See prompt_start.h.
#include "tasks/chat_completion/prompt_start.h"

#include <algorithm>
#include <vector>

#include "com/guard.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
constexpr const char* kSession = "the text session";

ComPtr<IWinMLStatefulStage> StateOwner(IWinMLTextGenerationSession* session) {
  ComPtr<IWinMLTextGenerationConfiguration> configuration;
  ComPtr<IWinMLStage> stage;
  if (FAILED(session->GetConfiguration(configuration.GetAddressOf())) || !configuration) return nullptr;
  if (FAILED(configuration->GetStateOwnerStage(stage.GetAddressOf()))) return nullptr;
  return Query<IWinMLStatefulStage>(stage.Get());
}

bool Continuable(IWinMLTextGenerationSequenceDisclosure* disclosure, UINT32* retained) {
  WINML_TEXT_GENERATION_SEQUENCE_STATE state = {};
  if (FAILED(disclosure->GetSequenceState(&state))) return false;
  *retained = state.retainedTokenCount;
  return state.sessionState == WINML_TEXT_GENERATION_SESSION_STATE_READY &&
         state.disclosure == WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_RETAINED;
}

// A prompt that the session is going to refuse must not cost what it holds.
bool Fits(IWinMLTextGenerationSession* session, IWinMLStatefulStage* state, size_t tokens) {
  ComPtr<IWinMLTextGenerationConfiguration> configuration;
  UINT64 logical = 0;
  UINT64 capacity = 0;
  if (SUCCEEDED(session->GetConfiguration(configuration.GetAddressOf())) && configuration) {
    configuration->GetLogicalCapacity(&logical);
  }
  if (state) state->GetSequenceCapacity(&capacity);
  return (logical == 0 || tokens <= logical) && (capacity == 0 || tokens <= capacity);
}

// Tokens of the prompt that the session holds and that a continuation may keep. Whatever keeps this from working only
// costs time, so that failures mean 0.
size_t KeepPrefix(IWinMLTextGenerationSession* session, std::span<const UINT32> prompt, bool constrained) {
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  const auto disclosure = Query<IWinMLTextGenerationSequenceDisclosure>(session);
  if (!disclosure || FAILED(session->GetCapabilities(&capabilities))) return 0;
  if (!(constrained ? capabilities.supportsConstrainedContinuation : capabilities.supportsContinuation)) return 0;
  UINT32 count = 0;
  if (!Continuable(disclosure.Get(), &count)) return 0;
  TokenArray array;
  if (FAILED(disclosure->GetRetainedTokenIds(array.count(), array.ids()))) return 0;
  const std::vector<uint32_t> retained = array.Take("the text session: GetRetainedTokenIds");
  const auto differ = std::mismatch(retained.begin(), retained.end(), prompt.begin(), prompt.end());
  const size_t shared = static_cast<size_t>(differ.second - prompt.begin());
  const size_t kept = std::min(shared, prompt.size() - 1);
  if (kept == 0) return 0;
  const auto state = StateOwner(session);
  if (!Fits(session, state.Get(), prompt.size())) return 0;
  if (kept == retained.size()) return kept;
  if (!state || FAILED(state->RewindTo(kept))) return 0;
  // The session must have seen the rewind, or the suffix would go to a wrong place.
  return Continuable(disclosure.Get(), &count) && count == kept ? kept : 0;
}

HRESULT Generate(IWinMLTextGenerationSession* session, std::span<const UINT32> tokens,
                 IWinMLTokenConstraint* constraint, IWinMLTextGenerationOptions* options,
                 IWinMLCancellationSource* cancellation, IWinMLTextGenerationPullStream** stream) {
  const UINT32 count = static_cast<UINT32>(tokens.size());
  if (!constraint) return session->GenerateTokens(count, tokens.data(), options, cancellation, stream);
  const auto constrained = Query<IWinMLTextGenerationConstraintSession>(session);
  Require(constrained != nullptr, kNotSupported, "the text session generates under no constraint");
  return constrained->GenerateTokensWithConstraint(count, tokens.data(), constraint, options, cancellation, stream);
}

HRESULT Continue(IWinMLTextGenerationSession* session, std::span<const UINT32> tokens,
                 IWinMLTokenConstraint* constraint, IWinMLTextGenerationOptions* options,
                 IWinMLCancellationSource* cancellation, IWinMLTextGenerationPullStream** stream) {
  const UINT32 count = static_cast<UINT32>(tokens.size());
  if (!constraint) return session->ContinueTokens(count, tokens.data(), options, cancellation, stream);
  const auto constrained = Query<IWinMLTextGenerationConstraintContinuation>(session);
  Require(constrained != nullptr, kNotSupported, "the text session continues under no constraint");
  return constrained->ContinueTokensWithConstraint(count, tokens.data(), constraint, options, cancellation, stream);
}

}  // namespace

StartedPrompt StartPrompt(IWinMLTextGenerationSession* session, std::span<const UINT32> prompt,
                          IWinMLTokenConstraint* constraint, IWinMLTextGenerationOptions* options,
                          IWinMLCancellationSource* cancellation) {
  Require(!prompt.empty(), E_INVALIDARG, "the formatted conversation has no tokens");
  Require(prompt.size() <= UINT32_MAX, E_INVALIDARG, "the prompt has more tokens than 32 bits can count");
  StartedPrompt started;
  const size_t kept = KeepPrefix(session, prompt, constraint != nullptr);
  started.cached_tokens = static_cast<UINT32>(kept);
  const auto start = kept == 0 ? Generate : Continue;
  ClearThreadError();
  CheckResult(start(session, prompt.subspan(kept), constraint, options, cancellation, started.stream.GetAddressOf()),
              kSession);
  Require(started.stream != nullptr, E_UNEXPECTED, "the text session succeeded without a stream");
  return started;
}

}  // namespace owml
