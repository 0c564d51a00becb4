// A runtime, a task library and a stranger's model and tokenizer between them; short ways to generate and to look.
// Used by the tests of this folder.
#pragma once

#include <WinMLTasks.h>
#include <gmock/gmock.h>
#include <openwinml/error.h>

#include <string>
#include <vector>

#include "tasks/text_generation/stranger_model.h"
#include "tasks/text_generation/stranger_tokenizer.h"

namespace owml::test {

inline constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
inline constexpr HRESULT kTooLong = HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER);
inline constexpr HRESULT kBusy = HRESULT_FROM_WIN32(ERROR_BUSY);
inline constexpr HRESULT kBadData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
inline constexpr auto kUnified = WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED;
inline constexpr auto kPrefill = WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL;
inline constexpr auto kDecode = WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE;
inline constexpr auto kLogits = WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
inline constexpr auto kSampled = WINML_TEXT_GENERATION_OUTPUT_KIND_SAMPLED_TOKEN;

inline Tokens Taken(UINT32 count, UINT32* ids) {
  EXPECT_EQ(ids == nullptr, count == 0);
  const Tokens tokens(ids, ids + count);
  CoTaskMemFree(ids);
  return tokens;
}

// All that a stream gave, and its result.
struct Answer {
  Tokens tokens;
  std::vector<std::wstring> fragments;
  WINML_TEXT_GENERATION_FINISH_REASON reason = WINML_TEXT_GENERATION_FINISH_REASON_ERROR;
  HRESULT error = S_OK;
  std::string sentence;
  UINT32 prompt_tokens = 0;
  std::wstring text;
};

inline std::wstring Joined(const std::vector<std::wstring>& fragments) {
  std::wstring text;
  for (const std::wstring& fragment : fragments) text += fragment;
  return text;
}

// One call of ReadNext; true for an update, which is added to `answer`.
inline bool ReadOne(IWinMLTextGenerationPullStream* stream, Answer* answer) {
  auto status = static_cast<WINML_TEXT_GENERATION_READ_STATUS>(77);
  UINT32 token = 77;
  LPCWSTR fragment = L"77";
  EXPECT_EQ(stream->ReadNext(&status, &token, &fragment), S_OK);
  if (status == WINML_TEXT_GENERATION_READ_STATUS_COMPLETED) {
    EXPECT_EQ(token, 0u);
    EXPECT_EQ(fragment, nullptr);
    return false;
  }
  EXPECT_EQ(status, WINML_TEXT_GENERATION_READ_STATUS_UPDATE);
  EXPECT_NE(fragment, nullptr);
  answer->tokens.push_back(token);
  answer->fragments.push_back(fragment ? fragment : L"");
  return true;
}

// Reads the rest of a stream and its result, checks that they agree, and closes it.
inline Answer ReadAll(IWinMLTextGenerationPullStream* stream, Answer answer = {}) {
  while (ReadOne(stream, &answer)) {
  }
  ComPtr<IWinMLTextGenerationResult> result;
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
  if (!result) return answer;
  LPCWSTR text = nullptr;
  UINT32 count = 0;
  UINT32* ids = nullptr;
  EXPECT_EQ(result->GetFinishReason(&answer.reason), S_OK);
  EXPECT_EQ(result->GetPromptTokenCount(&answer.prompt_tokens), S_OK);
  EXPECT_EQ(result->GetText(&text), S_OK);
  EXPECT_EQ(result->GetTokenIds(&count, &ids), S_OK);
  EXPECT_EQ(Taken(count, ids), answer.tokens);
  answer.text = text ? text : L"(null)";
  EXPECT_EQ(answer.text, Joined(answer.fragments));
  EXPECT_EQ(result->GetErrorCode(&answer.error), S_OK);
  EXPECT_EQ(FAILED(answer.error), answer.reason == WINML_TEXT_GENERATION_FINISH_REASON_ERROR);
  if (FAILED(answer.error)) answer.sentence = openwinml::LastErrorMessage();
  EXPECT_EQ(stream->Close(), S_OK);
  return answer;
}

class TextGenerationTest : public testing::Test {
 protected:
  TextGenerationTest() {
    EXPECT_EQ(WinMLCreateRuntime(__uuidof(IWinMLRuntime), reinterpret_cast<void**>(runtime.GetAddressOf())), S_OK);
    EXPECT_EQ(runtime->CreateCpuExecutionTarget(cpu.GetAddressOf()), S_OK);
    EXPECT_EQ(WinMLCreateTasks(runtime.Get(), __uuidof(IWinMLTasks), reinterpret_cast<void**>(tasks.GetAddressOf())),
              S_OK);
    EXPECT_EQ(tasks.As(&factory), S_OK);
    model = NewModel();
    tokenizer.Attach(new StrangerTokenizer);
  }

  ~TextGenerationTest() override {
    session.Reset();
    task.Reset();
    configuration.Reset();
    EXPECT_FALSE(model->input_bound());
    EXPECT_FALSE(model->output_requested());
    EXPECT_EQ(model->references(), 1u);
  }

  static ComPtr<StrangerModel> NewModel() {
    ComPtr<StrangerModel> made;
    made.Attach(new StrangerModel(kStrangerVocabulary));
    return made;
  }

  ComPtr<IWinMLTextGenerationConfiguration> NewConfiguration() {
    ComPtr<IWinMLTextGenerationConfiguration> made;
    EXPECT_EQ(factory->CreateTextGenerationConfiguration(made.GetAddressOf()), S_OK);
    return made;
  }

  // A complete unified configuration over `stage` and `pipeline`.
  ComPtr<IWinMLTextGenerationConfiguration> Unified(IWinMLPipeline* pipeline, IWinMLStage* stage,
                                                    IWinMLTokenizer* its_tokenizer) {
    auto made = NewConfiguration();
    EXPECT_EQ(made->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED), S_OK);
    EXPECT_EQ(made->SetPipeline(kUnified, pipeline), S_OK);
    EXPECT_EQ(made->SetTokenInput(kUnified, stage, 0), S_OK);
    EXPECT_EQ(made->SetOutput(kUnified, stage, 0, kLogits), S_OK);
    EXPECT_EQ(made->SetStateOwnerStage(stage), S_OK);
    EXPECT_EQ(made->SetTokenTarget(cpu.Get()), S_OK);
    EXPECT_EQ(made->SetTokenizer(its_tokenizer), S_OK);
    return made;
  }
  ComPtr<IWinMLTextGenerationConfiguration> Unified() { return Unified(model.Get(), model.Get(), tokenizer.Get()); }

  ComPtr<IWinMLTextGenerationTask> NewTask(IWinMLTokenizer* its_tokenizer) {
    ComPtr<IWinMLTextGenerationTask> made;
    EXPECT_EQ(factory->CreateTextGenerationTask(its_tokenizer, WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, 0,
                                                nullptr, made.GetAddressOf()),
              S_OK)
        << openwinml::LastErrorMessage();
    return made;
  }

  // `session` over the stranger's model as it is now.
  void Open() {
    session.Reset();
    configuration = Unified();
    if (!task) task = NewTask(tokenizer.Get());
    EXPECT_EQ(task->CreateSession(configuration.Get(), session.ReleaseAndGetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
  }

  static WINML_TEXT_GENERATION_OPTIONS Values(UINT32 max_new_tokens) {
    WINML_TEXT_GENERATION_OPTIONS values = {};
    values.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_MAX_NEW_TOKENS;
    values.maxNewTokens = max_new_tokens;
    return values;
  }

  ComPtr<IWinMLTextGenerationOptions> Options(const WINML_TEXT_GENERATION_OPTIONS& values, const Tokens& stops = {}) {
    ComPtr<IWinMLTextGenerationOptions> made;
    EXPECT_EQ(factory->CreateTextGenerationOptions(&values, static_cast<UINT32>(stops.size()), stops.data(),
                                                   made.GetAddressOf()),
              S_OK)
        << openwinml::LastErrorMessage();
    return made;
  }
  ComPtr<IWinMLTextGenerationOptions> Options(UINT32 max_new_tokens) { return Options(Values(max_new_tokens)); }

  ComPtr<IWinMLCancellationSource> NewCancellation() {
    ComPtr<IWinMLCancellationSource> made;
    EXPECT_EQ(tasks->CreateCancellationSource(made.GetAddressOf()), S_OK);
    return made;
  }

  ComPtr<IWinMLTextGenerationPullStream> Start(const Tokens& prompt, IWinMLTextGenerationOptions* options = nullptr,
                                               IWinMLCancellationSource* cancellation = nullptr) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    EXPECT_EQ(session->GenerateTokens(static_cast<UINT32>(prompt.size()), prompt.data(), options, cancellation,
                                      stream.GetAddressOf()),
              S_OK)
        << openwinml::LastErrorMessage();
    return stream;
  }

  Answer Generate(const Tokens& prompt, UINT32 max_new_tokens, IWinMLCancellationSource* cancellation = nullptr) {
    return ReadAll(Start(prompt, Options(max_new_tokens).Get(), cancellation).Get());
  }

  Answer Continue(const Tokens& suffix, UINT32 max_new_tokens, IWinMLCancellationSource* cancellation = nullptr) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    EXPECT_EQ(session->ContinueTokens(static_cast<UINT32>(suffix.size()), suffix.data(), Options(max_new_tokens).Get(),
                                      cancellation, stream.GetAddressOf()),
              S_OK)
        << openwinml::LastErrorMessage();
    return stream ? ReadAll(stream.Get()) : Answer{};
  }

  WINML_TEXT_GENERATION_SESSION_STATE State() {
    auto state = static_cast<WINML_TEXT_GENERATION_SESSION_STATE>(77);
    EXPECT_EQ(session->GetState(&state), S_OK);
    return state;
  }

  WINML_TEXT_GENERATION_SEQUENCE_STATE SequenceState() {
    ComPtr<IWinMLTextGenerationSequenceDisclosure> view;
    EXPECT_EQ(session.As(&view), S_OK);
    WINML_TEXT_GENERATION_SEQUENCE_STATE state = {};
    EXPECT_EQ(view->GetSequenceState(&state), S_OK);
    return state;
  }

  Tokens Retained() {
    ComPtr<IWinMLTextGenerationSequenceDisclosure> view;
    EXPECT_EQ(session.As(&view), S_OK);
    UINT32 count = 77;
    UINT32* ids = nullptr;
    EXPECT_EQ(view->GetRetainedTokenIds(&count, &ids), S_OK);
    return Taken(count, ids);
  }

  // What greedy generation must give over the stranger's model: the loop written down once more.
  Tokens Expected(Tokens sequence, size_t count) const {
    Tokens tokens;
    while (tokens.size() < count) {
      const std::vector<float> logits = model->logits_of(sequence);
      tokens.push_back(static_cast<UINT32>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
      sequence.push_back(tokens.back());
    }
    return tokens;
  }

  // A model that says these tokens one after the other, whatever is asked.
  static std::function<std::vector<float>(const Tokens&)> Saying(const Tokens& script, size_t prompt_tokens) {
    return [script, prompt_tokens](const Tokens& sequence) {
      std::vector<float> logits(kStrangerVocabulary, 0.0f);
      logits[script.at(sequence.size() - prompt_tokens)] = 1.0f;
      return logits;
    };
  }

  ComPtr<IWinMLRuntime> runtime;
  ComPtr<IWinMLExecutionTarget> cpu;
  ComPtr<IWinMLTasks> tasks;
  ComPtr<IWinMLTextGenerationTaskFactory> factory;
  ComPtr<StrangerModel> model;
  ComPtr<StrangerTokenizer> tokenizer;
  ComPtr<IWinMLTextGenerationConfiguration> configuration;
  ComPtr<IWinMLTextGenerationTask> task;
  ComPtr<IWinMLTextGenerationSession> session;
};

}  // namespace owml::test
