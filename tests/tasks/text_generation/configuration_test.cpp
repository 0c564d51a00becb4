// What a configuration keeps, what Validate says, and that one session uses it up.
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Configuration : public TextGenerationTest {
 protected:
  HRESULT Validated(IWinMLTextGenerationConfiguration* its, const std::string& sentence = "") {
    const HRESULT result = its->Validate();
    if (FAILED(result)) {
      EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr(sentence));
    }
    return result;
  }

  void SetSpeculation(IWinMLTextGenerationConfiguration* its, int method, UINT32 drafts = 0) {
    ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
    ASSERT_EQ(its->QueryInterface(IID_PPV_ARGS(view.GetAddressOf())), S_OK);
    const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {
        static_cast<WINML_TEXT_GENERATION_SPECULATIVE_METHOD>(method), drafts};
    EXPECT_EQ(view->SetSpeculativeOptions(&options), S_OK);
  }
};

TEST_F(Configuration, SaysWhatIsMissing) {
  const auto made = NewConfiguration();
  const auto missing = [&](const std::string& name) {
    EXPECT_EQ(Validated(made.Get(), name + " is not set"), E_NOT_VALID_STATE);
  };
  missing("the unified pipeline");
  made->SetPipeline(kUnified, model.Get());
  missing("the unified token input");
  made->SetTokenInput(kUnified, model.Get(), 0);
  missing("the unified output");
  made->SetOutput(kUnified, model.Get(), 0, kLogits);
  missing("the state owner stage");
  made->SetStateOwnerStage(model.Get());
  missing("the token target");
  made->SetTokenTarget(cpu.Get());
  missing("the tokenizer");
  made->SetTokenizer(tokenizer.Get());
  EXPECT_EQ(made->Validate(), S_OK);
  made->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE);
  missing("the prefill pipeline");
}

TEST_F(Configuration, GettersGiveWhatWasSet) {
  const auto made = NewConfiguration();
  ComPtr<IWinMLPipeline> pipeline;
  ComPtr<IWinMLStage> stage;
  ComPtr<IWinMLTensor> tensor;
  UINT32 index = 7;
  auto kind = kSampled;
  EXPECT_EQ(made->GetPipeline(kDecode, pipeline.GetAddressOf()), S_OK);
  EXPECT_EQ(pipeline, nullptr);
  EXPECT_EQ(made->GetOutput(kDecode, stage.GetAddressOf(), &index, &kind), S_OK);
  EXPECT_EQ(stage, nullptr);

  made->SetPipeline(kDecode, model.Get());
  made->SetTokenInput(kDecode, model.Get(), 3);
  made->SetOutput(kDecode, model.Get(), 4, kSampled);
  EXPECT_EQ(made->GetPipeline(kDecode, pipeline.GetAddressOf()), S_OK);
  EXPECT_EQ(pipeline.Get(), model.Get());
  EXPECT_EQ(made->GetTokenInput(kDecode, stage.ReleaseAndGetAddressOf(), &index), S_OK);
  EXPECT_EQ(stage.Get(), static_cast<IWinMLStage*>(model.Get()));
  EXPECT_EQ(index, 3u);
  EXPECT_EQ(made->GetOutput(kDecode, stage.ReleaseAndGetAddressOf(), &index, &kind), S_OK);
  EXPECT_EQ(index, 4u);
  EXPECT_EQ(kind, kSampled);

  auto mode = WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED;
  made->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE);
  EXPECT_EQ(made->GetMode(&mode), S_OK);
  EXPECT_EQ(mode, WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE);
  auto input_mode = WINML_TEXT_GENERATION_DECODE_INPUT_MODE_CALLER_BOUND;
  made->SetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK);
  EXPECT_EQ(made->GetDecodeInputMode(&input_mode), S_OK);
  EXPECT_EQ(input_mode, WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK);
  UINT64 capacity = 7;
  EXPECT_EQ(made->GetLogicalCapacity(&capacity), S_OK);
  EXPECT_EQ(capacity, 0u);
  made->SetLogicalCapacity(99);
  made->GetLogicalCapacity(&capacity);
  EXPECT_EQ(capacity, 99u);

  ComPtr<IWinMLTensor> owned;
  owned.Attach(new StrangerTensor(WINML_TENSOR_DATA_TYPE_FLOAT32, {1}, std::vector<BYTE>(4)));
  EXPECT_EQ(made->AddCallerOutputBinding(kDecode, model.Get(), 5, owned.Get()), S_OK);
  EXPECT_EQ(made->AddCallerOutputBinding(kDecode, model.Get(), 6, owned.Get()), S_OK);
  EXPECT_EQ(made->AddCallerOutputBinding(kDecode, model.Get(), 5, owned.Get()), S_OK);
  UINT32 count = 0;
  EXPECT_EQ(made->GetCallerOutputBindingCount(kDecode, &count), S_OK);
  EXPECT_EQ(count, 2u) << "one for each output";
  EXPECT_EQ(made->GetCallerOutputBinding(kDecode, 1, stage.ReleaseAndGetAddressOf(), &index, tensor.GetAddressOf()),
            S_OK);
  EXPECT_EQ(index, 6u);
  EXPECT_EQ(tensor.Get(), owned.Get());
  EXPECT_EQ(
      made->GetCallerOutputBinding(kDecode, 2, stage.ReleaseAndGetAddressOf(), &index, tensor.ReleaseAndGetAddressOf()),
      E_BOUNDS);
}

TEST_F(Configuration, RefusesNullPointersAndUnknownValues) {
  const auto made = NewConfiguration();
  const auto bad_phase = static_cast<WINML_TEXT_GENERATION_PIPELINE_PHASE>(3);
  EXPECT_EQ(made->SetPipeline(kUnified, nullptr), E_POINTER);
  EXPECT_EQ(made->SetPipeline(bad_phase, model.Get()), E_INVALIDARG);
  EXPECT_EQ(made->SetPipeline(static_cast<WINML_TEXT_GENERATION_PIPELINE_PHASE>(-1), model.Get()), E_INVALIDARG);
  EXPECT_EQ(made->SetTokenInput(kUnified, nullptr, 0), E_POINTER);
  EXPECT_EQ(made->SetOutput(kUnified, nullptr, 0, kLogits), E_POINTER);
  EXPECT_EQ(made->SetOutput(kUnified, model.Get(), 0, static_cast<WINML_TEXT_GENERATION_OUTPUT_KIND>(2)), E_INVALIDARG);
  EXPECT_EQ(made->SetStateOwnerStage(nullptr), E_POINTER);
  EXPECT_EQ(made->SetTokenTarget(nullptr), E_POINTER);
  EXPECT_EQ(made->SetTokenizer(nullptr), E_POINTER);
  EXPECT_EQ(made->SetMode(static_cast<WINML_TEXT_GENERATION_CONFIGURATION_MODE>(2)), E_INVALIDARG);
  EXPECT_EQ(made->SetDecodeInputMode(static_cast<WINML_TEXT_GENERATION_DECODE_INPUT_MODE>(-1)), E_INVALIDARG);
  EXPECT_EQ(made->GetMode(nullptr), E_POINTER);
  EXPECT_EQ(made->GetTokenizer(nullptr), E_POINTER);
  EXPECT_EQ(made->AddCallerOutputBinding(kUnified, model.Get(), 0, nullptr), E_POINTER);
}

TEST_F(Configuration, TellsItsRuntime) {
  ComPtr<IWinMLTaskRuntimeIdentity> identity;
  ASSERT_EQ(NewConfiguration().As(&identity), S_OK);
  ComPtr<IWinMLRuntime> told;
  EXPECT_EQ(identity->GetRuntime(told.GetAddressOf()), S_OK);
  EXPECT_TRUE(SameObject(told.Get(), runtime.Get()));
}

TEST_F(Configuration, ATokenInputMustTakeTokenIds) {
  const auto made = Unified();
  model->token_type = WINML_TENSOR_DATA_TYPE_FLOAT32;
  EXPECT_EQ(Validated(made.Get(), "the unified token input 0 is float32"), E_INVALIDARG);
  model->token_type = WINML_TENSOR_DATA_TYPE_INT64;
  EXPECT_EQ(Validated(made.Get()), S_OK);
  for (const std::vector<UINT64>& dims :
       std::vector<std::vector<UINT64>>{{}, {2, UINT64_MAX}, {1, 1, UINT64_MAX}, {1, 0}}) {
    model->token_dims = dims;
    EXPECT_EQ(Validated(made.Get(), "token ids are"), E_INVALIDARG) << dims.size();
  }
  for (const std::vector<UINT64>& dims :
       std::vector<std::vector<UINT64>>{{UINT64_MAX}, {1}, {1, 1}, {UINT64_MAX, UINT64_MAX}}) {
    model->token_dims = dims;
    EXPECT_EQ(Validated(made.Get()), S_OK) << dims.size();
  }
  model->token_dims = {1, 8};
  EXPECT_EQ(Validated(made.Get(), "takes 8 tokens a run"), E_INVALIDARG);
}

TEST_F(Configuration, AnOutputMustHoldWhatItIsSaidToHold) {
  const auto made = Unified();
  model->output_type = WINML_TENSOR_DATA_TYPE_INT8;
  EXPECT_EQ(Validated(made.Get(), "the unified output 0 is int8"), E_INVALIDARG);
  model->output_type = WINML_TENSOR_DATA_TYPE_FLOAT16;
  EXPECT_EQ(Validated(made.Get()), S_OK);
  made->SetOutput(kUnified, model.Get(), 0, kSampled);
  EXPECT_EQ(Validated(made.Get(), "sampled tokens are int32 or int64"), E_INVALIDARG);
  model->samples = true;
  EXPECT_EQ(Validated(made.Get()), S_OK);
}

TEST_F(Configuration, AStageWithoutSchemaOrSequenceIsRefused) {
  const auto made = Unified();
  model->has_schema = false;
  EXPECT_EQ(Validated(made.Get(), "IWinMLStageSchema"), E_INVALIDARG);
  model->has_schema = true;
  model->has_sequence = false;
  EXPECT_EQ(Validated(made.Get(), "IWinMLStatefulStage"), E_INVALIDARG);
}

TEST_F(Configuration, WhatAStageAnswersComesThrough) {
  const auto made = Unified();
  model->capacity_result = kNotSupported;
  EXPECT_EQ(Validated(made.Get(), "GetSequenceCapacity"), kNotSupported);
  made->SetTokenInput(kUnified, model.Get(), 1);
  EXPECT_EQ(Validated(made.Get(), "GetInputTensorDesc"), E_INVALIDARG);
}

TEST_F(Configuration, TheLogicalCapacityFitsTheStage) {
  const auto made = Unified();
  made->SetLogicalCapacity(64);
  EXPECT_EQ(Validated(made.Get()), S_OK);
  made->SetLogicalCapacity(65);
  EXPECT_EQ(Validated(made.Get(), "65"), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("64 positions"));
  model->capacity = 0;
  EXPECT_EQ(Validated(made.Get()), S_OK) << "the stage knows no limit";
}

TEST_F(Configuration, PartsOfAnotherModeAreRefused) {
  const auto made = Unified();
  made->SetPipeline(kDecode, model.Get());
  EXPECT_EQ(Validated(made.Get(), "the decode phase is configured, but the mode is UNIFIED"), E_INVALIDARG);
  const auto fed = Unified();
  fed->SetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK);
  EXPECT_EQ(Validated(fed.Get(), "PIPELINE_FEEDBACK"), E_INVALIDARG);
}

TEST_F(Configuration, ARejectedConfigurationCanBeMended) {
  const auto made = Unified();
  const auto its_task = NewTask(tokenizer.Get());
  model->token_type = WINML_TENSOR_DATA_TYPE_FLOAT32;
  EXPECT_EQ(its_task->CreateSession(made.Get(), session.GetAddressOf()), E_INVALIDARG);
  EXPECT_EQ(session, nullptr);
  model->token_type = WINML_TENSOR_DATA_TYPE_INT32;
  EXPECT_EQ(its_task->CreateSession(made.Get(), session.GetAddressOf()), S_OK);
}

TEST_F(Configuration, ServesOneSession) {
  Open();
  ComPtr<IWinMLTextGenerationSession> second;
  EXPECT_EQ(task->CreateSession(configuration.Get(), second.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(configuration->SetLogicalCapacity(5), E_NOT_VALID_STATE);
  EXPECT_EQ(configuration->SetTokenizer(tokenizer.Get()), E_NOT_VALID_STATE);
  EXPECT_EQ(configuration->Validate(), E_NOT_VALID_STATE);
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(configuration.As(&view), S_OK);
  const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS none = {};
  EXPECT_EQ(view->SetSpeculativeOptions(&none), E_NOT_VALID_STATE);
  ComPtr<IWinMLTokenizer> told;
  EXPECT_EQ(configuration->GetTokenizer(told.GetAddressOf()), S_OK) << "getters go on";
}

TEST_F(Configuration, OfAnotherRuntimeIsRefused) {
  ComPtr<IWinMLRuntime> other;
  ComPtr<IWinMLTextGenerationTaskFactory> other_factory;
  ASSERT_EQ(WinMLCreateRuntime(__uuidof(IWinMLRuntime), reinterpret_cast<void**>(other.GetAddressOf())), S_OK);
  ASSERT_EQ(WinMLCreateTasks(other.Get(), __uuidof(IWinMLTextGenerationTaskFactory),
                             reinterpret_cast<void**>(other_factory.GetAddressOf())),
            S_OK);
  ComPtr<IWinMLTextGenerationTask> foreign;
  ASSERT_EQ(other_factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0,
                                                    nullptr, foreign.GetAddressOf()),
            S_OK);
  const auto made = Unified();
  EXPECT_EQ(foreign->CreateSession(made.Get(), session.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("another runtime"));
  EXPECT_EQ(NewTask(tokenizer.Get())->CreateSession(made.Get(), session.GetAddressOf()), S_OK) << "not used up";
}

TEST_F(Configuration, WithAForeignTokenizerIsRefused) {
  ComPtr<StrangerTokenizer> other;
  other.Attach(new StrangerTokenizer);
  const auto made = Unified(model.Get(), model.Get(), other.Get());
  EXPECT_EQ(NewTask(tokenizer.Get())->CreateSession(made.Get(), session.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("another tokenizer"));
  made->SetTokenizer(tokenizer.Get());
  EXPECT_EQ(NewTask(tokenizer.Get())->CreateSession(made.Get(), session.GetAddressOf()), S_OK);
}

TEST_F(Configuration, APipelineServesOneSessionAtATime) {
  Open();
  const auto second = Unified();
  ComPtr<IWinMLTextGenerationSession> other;
  EXPECT_EQ(task->CreateSession(second.Get(), other.GetAddressOf()), kBusy);
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_EQ(task->CreateSession(second.Get(), other.GetAddressOf()), S_OK) << "neither used up nor held any more";
  const auto third = Unified();
  other.Reset();  // without Close
  EXPECT_EQ(task->CreateSession(third.Get(), other.GetAddressOf()), S_OK);
}

TEST_F(Configuration, SpeculativeMethodsAreKeptAndRefusedWhereTheStageCannotVerify) {
  const auto made = Unified();
  SetSpeculation(made.Get(), WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP, 5);
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(made.As(&view), S_OK);
  WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS told = {};
  EXPECT_EQ(view->GetSpeculativeOptions(&told), S_OK);
  EXPECT_EQ(told.method, WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP);
  EXPECT_EQ(told.draftTokenCount, 5u);
  EXPECT_EQ(Validated(made.Get()), S_OK);
  const auto its_task = NewTask(tokenizer.Get());
  EXPECT_EQ(its_task->CreateSession(made.Get(), session.GetAddressOf()), kNotSupported);
  SetSpeculation(made.Get(), WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE);
  EXPECT_EQ(its_task->CreateSession(made.Get(), session.GetAddressOf()), S_OK) << "another method may be chosen";
}

TEST_F(Configuration, BadSpeculativeSettingsAreRefusedByValidate) {
  const auto made = Unified();
  SetSpeculation(made.Get(), 4);
  EXPECT_EQ(Validated(made.Get(), "unknown"), E_INVALIDARG);
  SetSpeculation(made.Get(), WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL);
  EXPECT_EQ(Validated(made.Get(), "needs a draft pipeline"), E_INVALIDARG);
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(made.As(&view), S_OK);
  EXPECT_EQ(view->SetDraftPipeline(model.Get(), model.Get(), 0, model.Get(), 0, model.Get()), S_OK);
  EXPECT_EQ(Validated(made.Get(), "target pipeline itself"), E_INVALIDARG);
  const auto draft = NewModel();
  EXPECT_EQ(view->SetDraftPipeline(draft.Get(), draft.Get(), 1, draft.Get(), 2, draft.Get()), S_OK);
  EXPECT_EQ(Validated(made.Get()), S_OK);
  ComPtr<IWinMLPipeline> pipeline;
  ComPtr<IWinMLStage> input, output, owner;
  UINT32 input_index = 0, output_index = 0;
  EXPECT_EQ(view->GetDraftPipeline(pipeline.GetAddressOf(), input.GetAddressOf(), &input_index, output.GetAddressOf(),
                                   &output_index, owner.GetAddressOf()),
            S_OK);
  EXPECT_EQ(pipeline.Get(), draft.Get());
  EXPECT_EQ(input_index, 1u);
  EXPECT_EQ(output_index, 2u);
}

}  // namespace
}  // namespace owml::test
