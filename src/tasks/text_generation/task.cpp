// Sessions are made here: identity of runtime and tokenizer first, then the composition, then the claim on pipelines.
// See task.h.
#include "tasks/text_generation/task.h"

#include <memory>
#include <utility>
#include <vector>

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/text_generation/configuration.h"
#include "tasks/text_generation/session.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

std::vector<uint32_t> TokenizerEosTokens(IWinMLTokenizer* tokenizer) {
  const auto metadata = Query<IWinMLTokenizerMetadata>(tokenizer);
  Require(metadata != nullptr, E_NOINTERFACE,
          "the tokenizer does not tell its end tokens (IWinMLTokenizerMetadata); give them with the policy EXPLICIT");
  TokenArray tokens;
  ClearThreadError();
  CheckResult(metadata->GetEosTokenIds(tokens.count(), tokens.ids()), "the tokenizer",
              "IWinMLTokenizerMetadata::GetEosTokenIds");
  return tokens.Take("the tokenizer: IWinMLTokenizerMetadata::GetEosTokenIds");
}

// The parts of a configuration, given back unless they were used up.
class LentComposition {
 public:
  explicit LentComposition(ICompositionSource* source) : source_(source), parts_(source->BeginUse()) {}
  ~LentComposition() { source_->EndUse(used_up_); }
  LentComposition(const LentComposition&) = delete;
  LentComposition& operator=(const LentComposition&) = delete;

  const Composition& parts() const { return parts_; }
  void UseUp() { used_up_ = true; }

 private:
  ICompositionSource* const source_;
  const Composition parts_;
  bool used_up_ = false;
};

class TextGenerationTask final : public Implements<TextGenerationTask, IWinMLTextGenerationTask> {
 public:
  TextGenerationTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer, std::vector<uint32_t> eos_tokens)
      : runtime_(runtime), tokenizer_(tokenizer), eos_tokens_(std::move(eos_tokens)) {}

  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override {
    return Guard("IWinMLTextGenerationTask::GetTokenizer", [&] {
      RequireOut(tokenizer, "tokenizer");
      *tokenizer = AddedRef(tokenizer_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GetDefaultEosTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override {
    return Guard("IWinMLTextGenerationTask::GetDefaultEosTokenIds",
                 [&] { HandOutTokens(eos_tokens_, tokenCount, tokenIds); });
  }

  HRESULT STDMETHODCALLTYPE CreateSession(IWinMLTextGenerationConfiguration* configuration,
                                          IWinMLTextGenerationSession** session) noexcept override {
    return Guard("IWinMLTextGenerationTask::CreateSession", [&] {
      RequireOut(session, "session");
      RequirePointer(configuration, "configuration");
      const auto source = Query<ICompositionSource>(configuration);
      Require(source != nullptr, E_INVALIDARG,
              "the configuration does not come from CreateTextGenerationConfiguration");
      RequireSameRuntime(configuration);
      LentComposition lent(source.Get());
      const Composition& parts = lent.parts();
      CheckComposition(parts);
      Require(SameObject(parts.tokenizer.Get(), tokenizer_.Get()), E_INVALIDARG,
              "the configuration has another tokenizer than the task");
      auto sequence = std::make_shared<Sequence>(parts, eos_tokens_);
      *session = MakeSession(std::move(sequence), runtime_.Get(), configuration, parts.prompt_phase().token_input.stage)
                     .Detach();
      lent.UseUp();
    });
  }

 private:
  void RequireSameRuntime(IWinMLTextGenerationConfiguration* configuration) const {
    const auto identity = Query<IWinMLTaskRuntimeIdentity>(configuration);
    ComPtr<IWinMLRuntime> runtime;
    if (identity) identity->GetRuntime(runtime.GetAddressOf());
    Require(SameObject(runtime.Get(), runtime_.Get()), E_INVALIDARG, "the configuration belongs to another runtime");
  }

  const ComPtr<IWinMLRuntime> runtime_;
  const ComPtr<IWinMLTokenizer> tokenizer_;
  const std::vector<uint32_t> eos_tokens_;
};

}  // namespace

ComPtr<IWinMLTextGenerationTask> MakeTextGenerationTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer,
                                                        WINML_TEXT_GENERATION_EOS_POLICY policy,
                                                        std::span<const uint32_t> eos_tokens) {
  if (policy == WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT) {
    return Make<TextGenerationTask>(runtime, tokenizer, std::vector<uint32_t>(eos_tokens.begin(), eos_tokens.end()));
  }
  Require(policy == WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, E_INVALIDARG,
          "the eosPolicy " + std::to_string(policy) + " is unknown");
  Require(eos_tokens.data() == nullptr && eos_tokens.empty(), E_INVALIDARG,
          "eosTokenIds are given, but the policy TOKENIZER_DEFAULT takes those of the tokenizer");
  return Make<TextGenerationTask>(runtime, tokenizer, TokenizerEosTokens(tokenizer));
}

}  // namespace owml
