// From two caller-built pipelines, one for the prompt and one for each token, to a text session in one call. The
// application moves the state between them.
// For C++ applications; header only, over WinMLTasks.h.
#ifndef WINML_TASKS_TEXT_GENERATION_PREFILL_DECODE_TEXT_GENERATION_HPP_
#define WINML_TASKS_TEXT_GENERATION_PREFILL_DECODE_TEXT_GENERATION_HPP_

#include "TextGeneration.hpp"

namespace winml::tasks::text_generation {

struct PrefillDecodeTextGenerationArguments {
  IWinMLRuntime* runtime = nullptr;
  IWinMLPipeline* prefillPipeline = nullptr;
  TokenInput prefillTokenInput = {};
  Output prefillOutput = {};
  IWinMLPipeline* decodePipeline = nullptr;
  TokenInput decodeTokenInput = {};
  Output decodeOutput = {};
  WINML_TEXT_GENERATION_DECODE_INPUT_MODE decodeInputMode = WINML_TEXT_GENERATION_DECODE_INPUT_MODE_CALLER_BOUND;
  UINT64 logicalCapacity = 0;  // positions for prompt and answer
  IWinMLExecutionTarget* tokenTarget = nullptr;
  IWinMLTokenizer* tokenizer = nullptr;
  WINML_TEXT_GENERATION_EOS_POLICY eosPolicy = WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT;
  std::span<const UINT32> eosTokenIds = {};  // with EXPLICIT
  const Options* options = nullptr;          // null = 256 tokens, greedily
};

/// What belongs to one session; the session is closed by its owner.
struct PrefillDecodeTextGeneration {
  Microsoft::WRL::ComPtr<IWinMLTasks> tasks;
  Microsoft::WRL::ComPtr<IWinMLTokenizer> tokenizer;
  Microsoft::WRL::ComPtr<IWinMLPipeline> prefillPipeline;
  Microsoft::WRL::ComPtr<IWinMLPipeline> decodePipeline;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationTask> task;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationSession> session;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationOptions> options;
};

/// On failure `built` stays as it was.
inline HRESULT BuildPrefillDecodeTextGeneration(const PrefillDecodeTextGenerationArguments& arguments,
                                                PrefillDecodeTextGeneration& built) noexcept {
  Microsoft::WRL::ComPtr<IWinMLTextGenerationTaskFactory> factory;
  Microsoft::WRL::ComPtr<IWinMLTextGenerationConfiguration> configuration;
  PrefillDecodeTextGeneration made;
  const HRESULT result =
      detail::Steps()
          .Then([&] { return Create(arguments.runtime, made.tasks); })
          .Then([&] { return GetTextGenerationFactory(made.tasks.Get(), factory.GetAddressOf()); })
          .Then([&] { return factory->CreateTextGenerationConfiguration(configuration.GetAddressOf()); })
          .Then([&] { return configuration->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE); })
          .Then([&] {
            return detail::SetPhase(configuration.Get(), WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL,
                                    arguments.prefillPipeline, arguments.prefillTokenInput, arguments.prefillOutput);
          })
          .Then([&] {
            return detail::SetPhase(configuration.Get(), WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE,
                                    arguments.decodePipeline, arguments.decodeTokenInput, arguments.decodeOutput);
          })
          .Then([&] { return configuration->SetDecodeInputMode(arguments.decodeInputMode); })
          .Then([&] { return configuration->SetLogicalCapacity(arguments.logicalCapacity); })
          .Then([&] { return configuration->SetTokenTarget(arguments.tokenTarget); })
          .Then([&] { return configuration->SetTokenizer(arguments.tokenizer); })
          .Then([&] {
            return detail::Finish(factory.Get(), configuration.Get(), arguments.tokenizer, arguments.eosPolicy,
                                  arguments.eosTokenIds, arguments.options, made.task.GetAddressOf(),
                                  made.session.GetAddressOf(), made.options.GetAddressOf());
          })
          .result();
  if (FAILED(result)) return result;
  made.tokenizer = arguments.tokenizer;
  made.prefillPipeline = arguments.prefillPipeline;
  made.decodePipeline = arguments.decodePipeline;
  built = static_cast<PrefillDecodeTextGeneration&&>(made);
  return S_OK;
}

}  // namespace winml::tasks::text_generation

#endif  // WINML_TASKS_TEXT_GENERATION_PREFILL_DECODE_TEXT_GENERATION_HPP_
