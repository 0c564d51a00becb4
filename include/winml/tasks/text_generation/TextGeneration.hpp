// From a caller-built pipeline to a text session in one call. Nothing here throws, loads files or chooses devices.
// For C++ applications; header only, over WinMLTasks.h.
#ifndef WINML_TASKS_TEXT_GENERATION_TEXT_GENERATION_HPP_
#define WINML_TASKS_TEXT_GENERATION_TEXT_GENERATION_HPP_

#include <wrl/client.h>

#include <span>

#include "../WinMLTasks.hpp"

namespace winml::tasks::text_generation {

/// Where token ids go in.
struct TokenInput {
  IWinMLStage* stage = nullptr;
  UINT32 index = 0;
};

/// Where logits or sampled tokens come out.
struct Output {
  IWinMLStage* stage = nullptr;
  UINT32 index = 0;
  WINML_TEXT_GENERATION_OUTPUT_KIND kind = WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
};

/// Where a draft model gives its logits.
struct DraftOutput {
  IWinMLStage* stage = nullptr;
  UINT32 index = 0;
};

/// What each generation is to do unless it is told otherwise.
struct Options {
  WINML_TEXT_GENERATION_OPTIONS values = MakeTextGenerationOptions(256);
  std::span<const UINT32> stopTokenIds = {};
};

struct SpeculativeDecoding {
  WINML_TEXT_GENERATION_SPECULATIVE_METHOD method = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE;
  UINT32 draftTokenCount = 0;               // 0 = the library's choice
  IWinMLPipeline* draftPipeline = nullptr;  // with DRAFT_MODEL, as the rest
  TokenInput draftTokenInput = {};
  DraftOutput draftOutput = {};
  IWinMLStage* draftStateOwnerStage = nullptr;
};

struct TextGenerationArguments {
  IWinMLRuntime* runtime = nullptr;
  IWinMLPipeline* pipeline = nullptr;
  TokenInput tokenInput = {};
  Output output = {};
  IWinMLStage* stateOwnerStage = nullptr;
  IWinMLExecutionTarget* tokenTarget = nullptr;
  IWinMLTokenizer* tokenizer = nullptr;
  WINML_TEXT_GENERATION_EOS_POLICY eosPolicy = WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT;
  std::span<const UINT32> eosTokenIds = {};          // with EXPLICIT
  const Options* options = nullptr;                  // null = 256 tokens, greedily
  const SpeculativeDecoding* speculative = nullptr;  // null = off
};

/// What belongs to one session; the session is closed by its owner.
struct TextGeneration {
  Microsoft::WRL::ComPtr<IWinMLTasks> tasks;
  Microsoft::WRL::ComPtr<IWinMLTokenizer> tokenizer;
  Microsoft::WRL::ComPtr<IWinMLPipeline> pipeline;
  Microsoft::WRL::ComPtr<IWinMLStage> stateOwnerStage;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationTask> task;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationSession> session;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationOptions> options;
};

namespace detail {

// Runs calls until the first one that fails.
class Steps {
 public:
  template <class Call>
  Steps& Then(Call&& call) noexcept {
    if (SUCCEEDED(result_)) result_ = call();
    return *this;
  }
  HRESULT result() const noexcept { return result_; }

 private:
  HRESULT result_ = S_OK;
};

inline HRESULT SetPhase(IWinMLTextGenerationConfiguration* configuration, WINML_TEXT_GENERATION_PIPELINE_PHASE phase,
                        IWinMLPipeline* pipeline, const TokenInput& input, const Output& output) noexcept {
  return Steps()
      .Then([&] { return configuration->SetPipeline(phase, pipeline); })
      .Then([&] { return configuration->SetTokenInput(phase, input.stage, input.index); })
      .Then([&] { return configuration->SetOutput(phase, output.stage, output.index, output.kind); })
      .result();
}

inline HRESULT SetSpeculation(IWinMLTextGenerationConfiguration* configuration,
                              const SpeculativeDecoding& speculative) noexcept {
  Microsoft::WRL::ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {speculative.method, speculative.draftTokenCount};
  return Steps()
      .Then([&] {
        return configuration->QueryInterface(__uuidof(IWinMLTextGenerationSpeculativeConfiguration),
                                             reinterpret_cast<void**>(view.GetAddressOf()));
      })
      .Then([&] { return view->SetSpeculativeOptions(&options); })
      .Then([&] {
        if (speculative.draftPipeline == nullptr) return S_OK;
        return view->SetDraftPipeline(speculative.draftPipeline, speculative.draftTokenInput.stage,
                                      speculative.draftTokenInput.index, speculative.draftOutput.stage,
                                      speculative.draftOutput.index, speculative.draftStateOwnerStage);
      })
      .result();
}

// Task, session and options over a configuration that is complete.
inline HRESULT Finish(IWinMLTextGenerationTaskFactory* factory, IWinMLTextGenerationConfiguration* configuration,
                      IWinMLTokenizer* tokenizer, WINML_TEXT_GENERATION_EOS_POLICY eosPolicy,
                      std::span<const UINT32> eosTokenIds, const Options* options, IWinMLTextGenerationTask** task,
                      IWinMLTextGenerationSession** session, IWinMLTextGenerationOptions** made) noexcept {
  const Options defaults;
  const Options& wanted = options != nullptr ? *options : defaults;
  return Steps()
      .Then([&] { return configuration->Validate(); })
      .Then([&] {
        return factory->CreateTextGenerationOptions(&wanted.values, static_cast<UINT32>(wanted.stopTokenIds.size()),
                                                    wanted.stopTokenIds.data(), made);
      })
      .Then([&] {
        return factory->CreateTextGenerationTask(tokenizer, eosPolicy, static_cast<UINT32>(eosTokenIds.size()),
                                                 eosTokenIds.data(), task);
      })
      .Then([&] { return (*task)->CreateSession(configuration, session); })
      .result();
}

}  // namespace detail

/// A session over one pipeline for prompt and answer. On failure `built` stays as it was. ERROR_NOT_SUPPORTED: the
/// speculative method cannot run here.
inline HRESULT BuildTextGeneration(const TextGenerationArguments& arguments, TextGeneration& built) noexcept {
  Microsoft::WRL::ComPtr<IWinMLTextGenerationTaskFactory> factory;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationConfiguration> configuration;
  TextGeneration made;
  const HRESULT result =
      detail::Steps()
          .Then([&] { return Create(arguments.runtime, made.tasks); })
          .Then([&] { return GetTextGenerationFactory(made.tasks.Get(), factory.GetAddressOf()); })
          .Then([&] { return factory->CreateTextGenerationConfiguration(configuration.GetAddressOf()); })
          .Then([&] { return configuration->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED); })
          .Then([&] {
            return detail::SetPhase(configuration.Get(), WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED,
                                    arguments.pipeline, arguments.tokenInput, arguments.output);
          })
          .Then([&] { return configuration->SetStateOwnerStage(arguments.stateOwnerStage); })
          .Then([&] { return configuration->SetTokenTarget(arguments.tokenTarget); })
          .Then([&] { return configuration->SetTokenizer(arguments.tokenizer); })
          .Then([&] {
            return arguments.speculative ? detail::SetSpeculation(configuration.Get(), *arguments.speculative) : S_OK;
          })
          .Then([&] {
            return detail::Finish(factory.Get(), configuration.Get(), arguments.tokenizer, arguments.eosPolicy,
                                  arguments.eosTokenIds, arguments.options, made.task.GetAddressOf(),
                                  made.session.GetAddressOf(), made.options.GetAddressOf());
          })
          .result();
  if (FAILED(result)) return result;
  made.tokenizer = arguments.tokenizer;
  made.pipeline = arguments.pipeline;
  made.stateOwnerStage = arguments.stateOwnerStage;
  built = static_cast<TextGeneration&&>(made);
  return S_OK;
}

}  // namespace winml::tasks::text_generation

#endif  // WINML_TASKS_TEXT_GENERATION_TEXT_GENERATION_HPP_
