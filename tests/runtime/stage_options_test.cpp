// Options of a stage: defaults, setters before and after Build, what is in effect afterwards.
// Mirrors src/runtime/stage_options.cpp, stage_state_options.cpp, stage_ort.cpp and stage_dimensions.cpp.
#include "runtime/stage_options.h"

#include "runtime/execution_target.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

class StageOptions : public PipelineTest {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
  ComPtr<IWinMLStage> stage_ = AddModel(script_, L"s");
  ComPtr<IOwmlStageOptions> tuning_ = Query<IOwmlStageOptions>(stage_.Get());
  ComPtr<IWinMLStatefulStageOptions> state_ = Query<IWinMLStatefulStageOptions>(stage_.Get());
  ComPtr<IWinMLOrtStageOptions> ort_ = Query<IWinMLOrtStageOptions>(stage_.Get());
  ComPtr<IWinMLOrtStageDiagnostics> diagnostics_ = Query<IWinMLOrtStageDiagnostics>(stage_.Get());
  ComPtr<IWinMLOnnxSymbolicDimensionOverrides> dimensions_ = Query<IWinMLOnnxSymbolicDimensionOverrides>(stage_.Get());
};

template <class Interface, class Value>
Value Get(Interface* object, HRESULT (STDMETHODCALLTYPE Interface::*getter)(Value*)) {
  Value value{};
  EXPECT_EQ(S_OK, (object->*getter)(&value));
  return value;
}

TEST_F(StageOptions, ProcessorsHaveNone) {
  const ComPtr<IWinMLStage> stage = AddProcessor(NewProcessor({2}, Twice));
  EXPECT_FALSE(Query<IOwmlStageOptions>(stage.Get()));
  EXPECT_FALSE(Query<IWinMLStatefulStageOptions>(stage.Get()));
}

TEST_F(StageOptions, TuningDefaultsToTheBackendsChoice) {
  EXPECT_EQ(0u, Get(tuning_.Get(), &IOwmlStageOptions::GetIntraOpThreadCount));
  EXPECT_EQ(0u, Get(tuning_.Get(), &IOwmlStageOptions::GetInterOpThreadCount));
  EXPECT_EQ(0u, Get(tuning_.Get(), &IOwmlStageOptions::GetBatchSize));
  EXPECT_EQ(OWML_ENGINE_AUTO, Get(tuning_.Get(), &IOwmlStageOptions::GetEngine));
  EXPECT_EQ(OWML_KV_CACHE_TYPE_DEFAULT, Get(tuning_.Get(), &IOwmlStageOptions::GetKvCacheType));
  EXPECT_EQ(OWML_ORT_OPTIMIZATION_LEVEL_DEFAULT, Get(tuning_.Get(), &IOwmlStageOptions::GetOrtOptimizationLevel));
}

TEST_F(StageOptions, TuningIsReadBackAndReachesTheBackend) {
  EXPECT_EQ(S_OK, tuning_->SetIntraOpThreadCount(3));
  EXPECT_EQ(S_OK, tuning_->SetInterOpThreadCount(2));
  EXPECT_EQ(S_OK, tuning_->SetBatchSize(64));
  EXPECT_EQ(S_OK, tuning_->SetEngine(OWML_ENGINE_NATIVE));
  EXPECT_EQ(S_OK, tuning_->SetKvCacheType(OWML_KV_CACHE_TYPE_Q8_0));
  EXPECT_EQ(S_OK, tuning_->SetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL_BASIC));
  EXPECT_EQ(3u, Get(tuning_.Get(), &IOwmlStageOptions::GetIntraOpThreadCount));
  EXPECT_EQ(2u, Get(tuning_.Get(), &IOwmlStageOptions::GetInterOpThreadCount));
  EXPECT_EQ(64u, Get(tuning_.Get(), &IOwmlStageOptions::GetBatchSize));
  EXPECT_EQ(OWML_ENGINE_NATIVE, Get(tuning_.Get(), &IOwmlStageOptions::GetEngine));
  EXPECT_EQ(OWML_KV_CACHE_TYPE_Q8_0, Get(tuning_.Get(), &IOwmlStageOptions::GetKvCacheType));
  EXPECT_EQ(OWML_ORT_OPTIMIZATION_LEVEL_BASIC, Get(tuning_.Get(), &IOwmlStageOptions::GetOrtOptimizationLevel));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const SessionOptions& given = script_->created_with.at(0);
  EXPECT_EQ(3u, given.intra_op_threads);
  EXPECT_EQ(2u, given.inter_op_threads);
  EXPECT_EQ(64u, given.batch_size);
  EXPECT_EQ(Engine::kNative, given.engine);
  EXPECT_EQ(KvCacheType::kQ8_0, given.kv_cache_type);
  EXPECT_EQ(OptimizationLevel::kBasic, given.optimization_level);
}

TEST_F(StageOptions, ValuesOutOfRangeAreRefused) {
  EXPECT_EQ(E_INVALIDARG, tuning_->SetEngine(OWML_ENGINE_ORT));  // only reported
  EXPECT_EQ(E_INVALIDARG, tuning_->SetEngine(static_cast<OWML_ENGINE>(-1)));
  EXPECT_EQ(E_INVALIDARG, tuning_->SetKvCacheType(static_cast<OWML_KV_CACHE_TYPE>(5)));
  EXPECT_EQ(E_INVALIDARG, tuning_->SetOrtOptimizationLevel(static_cast<OWML_ORT_OPTIMIZATION_LEVEL>(5)));
  EXPECT_EQ(OWML_ENGINE_AUTO, Get(tuning_.Get(), &IOwmlStageOptions::GetEngine));
}

TEST_F(StageOptions, GettersRefuseNull) {
  EXPECT_EQ(E_POINTER, tuning_->GetIntraOpThreadCount(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetInterOpThreadCount(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetEngine(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetEngineReason(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetKvCacheType(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetBatchSize(nullptr));
  EXPECT_EQ(E_POINTER, tuning_->GetOrtOptimizationLevel(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetSequenceCapacityHint(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetCallerOwnsStateTensors(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetStateTensorPairCount(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetDraftTokenLimitHint(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetModelDraftPredictorEnabled(nullptr));
  EXPECT_EQ(E_POINTER, state_->GetDraftPredictorPath(nullptr));
  EXPECT_EQ(E_POINTER, diagnostics_->GetRequestedProviderName(nullptr));
  EXPECT_EQ(E_POINTER, diagnostics_->GetSelectedProviderName(nullptr));
  EXPECT_EQ(E_POINTER, diagnostics_->IsProviderPinned(nullptr));
}

TEST_F(StageOptions, EverySetterIsClosedByBuild) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const std::vector<HRESULT> answers = {tuning_->SetIntraOpThreadCount(1),
                                        tuning_->SetInterOpThreadCount(1),
                                        tuning_->SetEngine(OWML_ENGINE_AUTO),
                                        tuning_->SetKvCacheType(OWML_KV_CACHE_TYPE_F16),
                                        tuning_->SetBatchSize(1),
                                        tuning_->SetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL_ALL),
                                        state_->SetSequenceCapacityHint(1),
                                        state_->SetCallerOwnsStateTensors(TRUE),
                                        state_->AddStateTensorPair(0, 0),
                                        state_->ClearStateTensorPairs(),
                                        state_->SetDraftTokenLimitHint(1),
                                        state_->SetModelDraftPredictorEnabled(TRUE),
                                        state_->SetDraftPredictorPath(L"x"),
                                        ort_->SetProviderOption(L"a", L"b"),
                                        ort_->SetSessionConfigEntry(L"a", L"b"),
                                        ort_->SetSharedContextGroup(L"g"),
                                        ort_->ClearSharedContextGroup(),
                                        dimensions_->SetOverride(L"n", 1),
                                        dimensions_->RemoveOverride(L"n"),
                                        dimensions_->ClearOverrides()};
  EXPECT_EQ(std::vector<HRESULT>(answers.size(), E_NOT_VALID_STATE), answers);
}

TEST_F(StageOptions, AfterBuildTheValuesInEffectAreRead) {
  LPCWSTR reason = nullptr;
  EXPECT_EQ(E_NOT_VALID_STATE, tuning_->GetEngineReason(&reason));
  ASSERT_EQ(S_OK, tuning_->SetBatchSize(64));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(1u, Get(tuning_.Get(), &IOwmlStageOptions::GetIntraOpThreadCount));  // was 0 = automatic
  EXPECT_EQ(64u, Get(tuning_.Get(), &IOwmlStageOptions::GetBatchSize));
  ASSERT_EQ(S_OK, tuning_->GetEngineReason(&reason));
  EXPECT_STREQ(L"the test asked for it", reason);
}

TEST_F(StageOptions, AfterBuildTheEngineIsToldForEveryBackend) {
  const auto gguf = Elementwise({2}, Twice);
  gguf->onnx = false;
  const ComPtr<IWinMLStage> other = AddModel(gguf);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(OWML_ENGINE_ORT, Get(tuning_.Get(), &IOwmlStageOptions::GetEngine));
  EXPECT_EQ(OWML_ENGINE_LLAMA, Get(Query<IOwmlStageOptions>(other.Get()).Get(), &IOwmlStageOptions::GetEngine));
}

TEST_F(StageOptions, AnOptionThatTheBackendRefusesFailsBuildAndCanBeTakenBack) {
  script_->refuses_batch_size = true;
  ASSERT_EQ(S_OK, tuning_->SetBatchSize(64));
  ExpectError(kNotSupported, BuildFails(), "batch size");
  ASSERT_EQ(S_OK, tuning_->SetBatchSize(0));
  EXPECT_TRUE(Build());
}

TEST_F(StageOptions, StateDefaultsAreTheDocumentedOnes) {
  LPCWSTR path = L"rubbish";
  EXPECT_EQ(0u, Get(state_.Get(), &IWinMLStatefulStageOptions::GetSequenceCapacityHint));
  EXPECT_EQ(FALSE, Get(state_.Get(), &IWinMLStatefulStageOptions::GetCallerOwnsStateTensors));
  EXPECT_EQ(0u, Get(state_.Get(), &IWinMLStatefulStageOptions::GetStateTensorPairCount));
  EXPECT_EQ(0u, Get(state_.Get(), &IWinMLStatefulStageOptions::GetDraftTokenLimitHint));
  EXPECT_EQ(FALSE, Get(state_.Get(), &IWinMLStatefulStageOptions::GetModelDraftPredictorEnabled));
  EXPECT_EQ(S_OK, state_->GetDraftPredictorPath(&path));
  EXPECT_EQ(nullptr, path);
}

TEST_F(StageOptions, StateOptionsAreReadBackBeforeAndAfterBuild) {
  ASSERT_EQ(S_OK, state_->SetSequenceCapacityHint(UINT64_MAX));
  ASSERT_EQ(S_OK, state_->SetCallerOwnsStateTensors(7));  // any true value
  ASSERT_EQ(S_OK, state_->AddStateTensorPair(0, 0));
  ASSERT_EQ(S_OK, state_->SetDraftTokenLimitHint(4));
  ASSERT_EQ(S_OK, state_->SetModelDraftPredictorEnabled(TRUE));
  ASSERT_EQ(S_OK, state_->SetDraftPredictorPath(L"\u00e9t\u00e9/draft.gguf"));
  const auto expect_values = [&] {
    LPCWSTR path = nullptr;
    UINT32 input = 9, output = 9;
    EXPECT_EQ(UINT64_MAX, Get(state_.Get(), &IWinMLStatefulStageOptions::GetSequenceCapacityHint));
    EXPECT_EQ(TRUE, Get(state_.Get(), &IWinMLStatefulStageOptions::GetCallerOwnsStateTensors));
    EXPECT_EQ(1u, Get(state_.Get(), &IWinMLStatefulStageOptions::GetStateTensorPairCount));
    EXPECT_EQ(4u, Get(state_.Get(), &IWinMLStatefulStageOptions::GetDraftTokenLimitHint));
    EXPECT_EQ(TRUE, Get(state_.Get(), &IWinMLStatefulStageOptions::GetModelDraftPredictorEnabled));
    EXPECT_EQ(S_OK, state_->GetStateTensorPair(0, &input, &output));
    EXPECT_EQ(0u, input);
    EXPECT_EQ(0u, output);
    ASSERT_EQ(S_OK, state_->GetDraftPredictorPath(&path));
    EXPECT_STREQ(L"\u00e9t\u00e9/draft.gguf", path);
  };
  expect_values();
  const ComPtr<IWinMLPipeline> pipeline = Build();
  expect_values();
  EXPECT_EQ("\u00e9t\u00e9/draft.gguf", script_->created_with.at(0).draft_predictor_path.string());
}

TEST_F(StageOptions, AnEmptyOrNullPathClearsThePredictorPath) {
  LPCWSTR path = nullptr;
  for (const LPCWSTR nothing : {static_cast<LPCWSTR>(nullptr), L""}) {
    ASSERT_EQ(S_OK, state_->SetDraftPredictorPath(L"x.gguf"));
    ASSERT_EQ(S_OK, state_->SetDraftPredictorPath(nothing));
    ASSERT_EQ(S_OK, state_->GetDraftPredictorPath(&path));
    EXPECT_EQ(nullptr, path);
  }
}

TEST_F(StageOptions, StatePairsTakeEachIndexOnceAndOnlyKnownOnes) {
  const auto script = Elementwise({2}, Twice);
  script->schema.inputs.assign(3, Spec({2}));
  script->schema.outputs.assign(3, Spec({2}));
  const ComPtr<IWinMLStage> stage = AddModel(script);
  const auto options = Query<IWinMLStatefulStageOptions>(stage.Get());
  UINT32 input = 0, output = 0;
  ASSERT_EQ(S_OK, options->AddStateTensorPair(1, 2));
  EXPECT_EQ(E_INVALIDARG, options->AddStateTensorPair(1, 0));
  EXPECT_EQ(E_INVALIDARG, options->AddStateTensorPair(0, 2));
  EXPECT_EQ(E_INVALIDARG, options->AddStateTensorPair(3, 0));
  EXPECT_EQ(E_INVALIDARG, options->AddStateTensorPair(0, 3));
  ASSERT_EQ(S_OK, options->AddStateTensorPair(2, 1));
  ASSERT_EQ(S_OK, options->GetStateTensorPair(1, &input, &output));
  EXPECT_EQ(2u, input);
  EXPECT_EQ(1u, output);
  EXPECT_EQ(E_BOUNDS, options->GetStateTensorPair(2, &input, &output));
  EXPECT_EQ(E_POINTER, options->GetStateTensorPair(0, nullptr, &output));
  EXPECT_EQ(E_POINTER, options->GetStateTensorPair(9, &input, nullptr));
  ASSERT_EQ(S_OK, options->ClearStateTensorPairs());
  EXPECT_EQ(0u, Get(options.Get(), &IWinMLStatefulStageOptions::GetStateTensorPairCount));
  EXPECT_EQ(S_OK, options->AddStateTensorPair(1, 0));
}

TEST_F(StageOptions, ProviderAndSessionEntriesAreReplacedByKeyInOrder) {
  ASSERT_EQ(S_OK, ort_->SetSessionConfigEntry(L"a", L"1"));
  ASSERT_EQ(S_OK, ort_->SetSessionConfigEntry(L"b", L""));
  ASSERT_EQ(S_OK, ort_->SetSessionConfigEntry(L"a", L"3"));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ((Entries{{"a", "3"}, {"b", ""}}), script_->created_with.at(0).session_config);
}

TEST_F(StageOptions, OrtStringsAreValues) {
  EXPECT_EQ(E_INVALIDARG, ort_->SetProviderOption(nullptr, L"v"));
  EXPECT_EQ(E_INVALIDARG, ort_->SetProviderOption(L"k", nullptr));
  EXPECT_EQ(E_INVALIDARG, ort_->SetProviderOption(L"", L"v"));
  EXPECT_EQ(E_INVALIDARG, ort_->SetSessionConfigEntry(nullptr, L"v"));
  EXPECT_EQ(E_INVALIDARG, ort_->SetSessionConfigEntry(L"k", nullptr));
  EXPECT_EQ(E_INVALIDARG, ort_->SetSessionConfigEntry(L"", L"v"));
  EXPECT_EQ(E_INVALIDARG, ort_->SetSharedContextGroup(nullptr));
  EXPECT_EQ(E_INVALIDARG, ort_->SetSharedContextGroup(L""));
  EXPECT_EQ(S_OK, ort_->ClearSharedContextGroup());  // in none
}

TEST_F(StageOptions, DiagnosticsTellTheProviderAfterBuild) {
  LPCWSTR name = L"rubbish";
  BOOL pinned = TRUE;
  EXPECT_EQ(E_NOT_VALID_STATE, diagnostics_->GetRequestedProviderName(&name));
  EXPECT_EQ(nullptr, name);
  EXPECT_EQ(E_NOT_VALID_STATE, diagnostics_->GetSelectedProviderName(&name));
  EXPECT_EQ(E_NOT_VALID_STATE, diagnostics_->IsProviderPinned(&pinned));
  Placement placement;
  placement.provider = "CPUExecutionProvider";
  ComPtr<IWinMLStage> on_provider;
  ASSERT_EQ(S_OK, builder_->AddModelStage(MakeModel(MakeFakeModel(script_)).Get(), MakeExecutionTarget(placement).Get(),
                                          nullptr, on_provider.GetAddressOf()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(S_FALSE, diagnostics_->GetRequestedProviderName(&name));
  EXPECT_EQ(nullptr, name);
  EXPECT_EQ(S_FALSE, diagnostics_->GetSelectedProviderName(&name));
  EXPECT_EQ(S_OK, diagnostics_->IsProviderPinned(&pinned));
  EXPECT_FALSE(pinned);
  const auto other = Query<IWinMLOrtStageDiagnostics>(on_provider.Get());
  ASSERT_EQ(S_OK, other->GetRequestedProviderName(&name));
  EXPECT_STREQ(L"CPUExecutionProvider", name);
  ASSERT_EQ(S_OK, other->GetSelectedProviderName(&name));
  EXPECT_STREQ(L"CPUExecutionProvider", name);
  EXPECT_EQ(S_OK, other->IsProviderPinned(&pinned));
  EXPECT_TRUE(pinned);
}

TEST_F(StageOptions, SymbolicDimensionsKeepTheOrderOfTheFirstSetting) {
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"batch", 1));
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"seq", 8));
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"batch", 4));
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"gone", 9));
  EXPECT_EQ(S_OK, dimensions_->RemoveOverride(L"gone"));
  EXPECT_EQ(S_FALSE, dimensions_->RemoveOverride(L"gone"));
  EXPECT_EQ(2u, Get(dimensions_.Get(), &IWinMLOnnxSymbolicDimensionOverrides::GetOverrideCount));
  WCHAR name[8];
  UINT32 length = 0;
  INT64 extent = 0;
  ASSERT_EQ(S_OK, dimensions_->GetOverrideAt(0, 8, name, &length, &extent));
  EXPECT_STREQ(L"batch", name);
  EXPECT_EQ(6u, length);
  EXPECT_EQ(4, extent);
  EXPECT_EQ(S_OK, dimensions_->TryGetOverride(L"seq", &extent));
  EXPECT_EQ(8, extent);
  EXPECT_EQ(S_FALSE, dimensions_->TryGetOverride(L"SEQ", &extent));
  EXPECT_EQ(0, extent);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  using Overrides = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ((Overrides{{"batch", 4}, {"seq", 8}}), script_->created_with.at(0).dimension_overrides);
  EXPECT_EQ(S_OK, dimensions_->TryGetOverride(L"batch", &extent));  // still readable
}

TEST_F(StageOptions, SymbolicDimensionsAreCleared) {
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"n", 1));
  ASSERT_EQ(S_OK, dimensions_->ClearOverrides());
  EXPECT_EQ(0u, Get(dimensions_.Get(), &IWinMLOnnxSymbolicDimensionOverrides::GetOverrideCount));
}

TEST_F(StageOptions, SymbolicDimensionsRefuseBadNamesExtentsAndBuffers) {
  INT64 extent = 5;
  UINT32 length = 5;
  WCHAR name[3] = {};
  EXPECT_EQ(E_INVALIDARG, dimensions_->SetOverride(nullptr, 1));
  EXPECT_EQ(E_INVALIDARG, dimensions_->SetOverride(L"", 1));
  EXPECT_EQ(E_INVALIDARG, dimensions_->SetOverride(L"n", 0));
  EXPECT_EQ(E_INVALIDARG, dimensions_->SetOverride(L"n", -1));
  EXPECT_EQ(E_INVALIDARG, dimensions_->RemoveOverride(nullptr));
  EXPECT_EQ(E_INVALIDARG, dimensions_->RemoveOverride(L""));
  EXPECT_EQ(E_INVALIDARG, dimensions_->TryGetOverride(nullptr, &extent));
  EXPECT_EQ(E_POINTER, dimensions_->TryGetOverride(L"n", nullptr));
  EXPECT_EQ(E_POINTER, dimensions_->GetOverrideCount(nullptr));
  EXPECT_EQ(E_INVALIDARG, dimensions_->GetOverrideAt(0, 3, name, &length, &extent));
  ASSERT_EQ(S_OK, dimensions_->SetOverride(L"seq", INT64_MAX));
  EXPECT_EQ(E_POINTER, dimensions_->GetOverrideAt(0, 3, name, nullptr, &extent));
  EXPECT_EQ(E_POINTER, dimensions_->GetOverrideAt(0, 3, name, &length, nullptr));
  EXPECT_EQ(E_POINTER, dimensions_->GetOverrideAt(0, 3, nullptr, &length, &extent));
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), dimensions_->GetOverrideAt(0, 3, name, &length, &extent));
  EXPECT_EQ(4u, length);
  EXPECT_EQ(L'\0', name[0]);
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), dimensions_->GetOverrideAt(0, 0, nullptr, &length, &extent));
  EXPECT_EQ(4u, length);
  EXPECT_EQ(INT64_MAX, extent);
}

}  // namespace
}  // namespace owml::test
