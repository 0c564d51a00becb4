// Build as the compatibility check: graph, schemas, bindings and options must go together.
// Mirrors src/runtime/build.cpp and context_groups.cpp.
#include "runtime/build.h"

#include "runtime/execution_target.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

class Build : public PipelineTest {
 protected:
  ComPtr<IWinMLStage> AddModelOn(const std::shared_ptr<FakeScript>& script, const Placement& placement,
                                 const wchar_t* name) {
    ComPtr<IWinMLStage> stage;
    EXPECT_EQ(S_OK, builder_->AddModelStage(MakeModel(MakeFakeModel(script)).Get(),
                                            MakeExecutionTarget(placement).Get(), name, stage.GetAddressOf()));
    return stage;
  }
};

TEST_F(Build, NeedsAStage) { ExpectError(E_INVALIDARG, BuildFails(), "no stages"); }

TEST_F(Build, RefusesACycleByTheNamesOfItsStages) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, Twice), L"b");
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ASSERT_EQ(S_OK, Connect(b.Get(), 0, a.Get(), 0));
  ExpectError(E_INVALIDARG, BuildFails(), "stage 'a' -> stage 'b'");
}

TEST_F(Build, RefusesEdgesBetweenDifferentTypes) {
  const auto ints = Elementwise({2}, Twice);
  ints->schema.inputs[0] = Spec({2}, DType::kInt32);
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(ints, L"b");
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ExpectError(E_INVALIDARG, BuildFails(),
              "output 0 of stage 'a' gives float32 [2], input 0 of stage 'b' takes int32 [2]");
}

TEST_F(Build, RefusesEdgesBetweenDifferentShapesAndRanks) {
  for (const Dims& dims : {Dims{3}, Dims{2, 1}, Dims{}}) {
    builder_ = MakePipelineBuilder();
    const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice));
    const ComPtr<IWinMLStage> b = AddModel(Elementwise(dims, Twice));
    ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
    EXPECT_EQ(E_INVALIDARG, BuildFails()) << ToString(dims);
  }
}

TEST_F(Build, RefusesFeedbackBetweenDifferentShapes) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({3}, Twice), L"b");
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(a.Get(), 0, b.Get(), 0));
  ExpectError(E_INVALIDARG, BuildFails(), "input 0 of stage 'b' takes float32 [3]");
}

TEST_F(Build, FreeExtentsAgreeWithEverything) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2, kFreeDimension}, Twice));
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({kFreeDimension, 5}, Twice));
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  EXPECT_TRUE(PipelineTest::Build());
}

TEST_F(Build, ChecksWithTheSchemaThatTheBackendSettles) {
  const auto script = Elementwise({kFreeDimension}, Twice);
  script->built = Elementwise({4}, Twice)->schema;
  const ComPtr<IWinMLStage> stage = AddModel(script);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  ExpectError(E_INVALIDARG, BuildFails(), "takes float32 [4], the tensor is float32 [3]");
}

TEST_F(Build, RefusesAnInputThatIsBoundAndConnected) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, Twice), L"b");
  ASSERT_EQ(S_OK, b->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ExpectError(E_INVALIDARG, BuildFails(), "input 0 of stage 'b' is bound and connected");
}

TEST_F(Build, ChecksWhatWasBoundWhileTheSchemaWasUnknown) {
  const auto script = Elementwise({2}, Twice);
  script->declares_schema = false;
  const ComPtr<IWinMLStage> stage = AddModel(script, L"late");
  ASSERT_EQ(S_OK, stage->BindInput(7, Float32({2}, {1, 2}).Get()));
  ExpectError(E_INVALIDARG, BuildFails(), "input 7 of stage 'late' does not exist");
  ASSERT_EQ(S_OK, stage->BindInput(7, nullptr));
  ASSERT_EQ(S_OK, stage->RequestOutput(6));
  ExpectError(E_INVALIDARG, BuildFails(), "output 6 of stage 'late' does not exist");
  ASSERT_EQ(S_OK, stage->ResetOutput(6));
  ASSERT_EQ(S_OK, stage->BindInput(0, Int32({2}, {1, 2}).Get()));
  ExpectError(E_INVALIDARG, BuildFails(), "the tensor is int32 [2]");
  ASSERT_EQ(S_OK, stage->BindInput(0, nullptr));
  ASSERT_EQ(S_OK, stage->BindOutput(0, Float32({3}, {0, 0, 0}).Get()));
  ExpectError(E_INVALIDARG, BuildFails(), "output 0 of stage 'late' takes float32 [2]");
  ASSERT_EQ(S_OK, stage->ResetOutput(0));
  EXPECT_TRUE(PipelineTest::Build());
}

TEST_F(Build, ChecksStatePairsOfAnUnknownSchema) {
  const auto script = Elementwise({2}, Twice);
  script->declares_schema = false;
  const ComPtr<IWinMLStage> stage = AddModel(script);
  const ComPtr<IWinMLStatefulStageOptions> options = Query<IWinMLStatefulStageOptions>(stage.Get());
  ASSERT_EQ(S_OK, options->AddStateTensorPair(0, 1));
  ExpectError(E_INVALIDARG, BuildFails(), "output 1");
}

TEST_F(Build, TellsTheBackendWhatWasAskedFor) {
  const auto script = Elementwise({2}, Twice);
  script->schema.outputs.assign(3, Spec({2}));
  Placement npu;
  npu.kind = DeviceKind::kNpu;
  npu.device_id = "npu:0";
  const ComPtr<IWinMLStage> stage = AddModelOn(script, npu, L"m");
  ASSERT_EQ(S_OK, stage->RequestOutput(2));
  ASSERT_EQ(S_OK, stage->BindOutput(0, Float32({2}, {0, 0}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = PipelineTest::Build();
  ASSERT_EQ(1u, script->created_with.size());
  const SessionOptions& options = script->created_with[0];
  EXPECT_EQ(DeviceKind::kNpu, options.device);
  EXPECT_EQ("npu:0", options.device_id);
  EXPECT_EQ((std::vector<bool>{true, false, true}), options.published_outputs);
}

TEST_F(Build, APinnedTargetMeansNothingToAModelThatIsNotOnnx) {
  const auto script = Elementwise({2}, Twice);
  script->onnx = false;
  Placement pinned;
  pinned.provider = "CPUExecutionProvider";
  AddModelOn(script, pinned, L"gguf");
  ExpectError(kNotSupported, BuildFails(), "stage 'gguf'");
  EXPECT_TRUE(script->created_with.empty());
}

TEST_F(Build, ProviderOptionsNeedAPin) {
  const auto script = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> stage = AddModel(script, L"m");
  const ComPtr<IWinMLOrtStageOptions> options = Query<IWinMLOrtStageOptions>(stage.Get());
  ASSERT_EQ(S_OK, options->SetProviderOption(L"key", L"value"));
  ExpectError(E_INVALIDARG, BuildFails(), "pins no execution provider");
}

TEST_F(Build, AnEnabledPredictorNeedsADraftLimitAndAPathNeedsThePredictor) {
  const ComPtr<IWinMLStage> stage = AddModel(Elementwise({2}, Twice), L"m");
  const ComPtr<IWinMLStatefulStageOptions> options = Query<IWinMLStatefulStageOptions>(stage.Get());
  ASSERT_EQ(S_OK, options->SetModelDraftPredictorEnabled(TRUE));
  ExpectError(E_INVALIDARG, BuildFails(), "draft token limit");
  ASSERT_EQ(S_OK, options->SetModelDraftPredictorEnabled(FALSE));
  ASSERT_EQ(S_OK, options->SetDraftPredictorPath(L"draft.gguf"));
  ExpectError(E_INVALIDARG, BuildFails(), "draft predictor path");
  ASSERT_EQ(S_OK, options->SetModelDraftPredictorEnabled(TRUE));
  ASSERT_EQ(S_OK, options->SetDraftTokenLimitHint(4));
  EXPECT_TRUE(PipelineTest::Build());
}

TEST_F(Build, ASharedContextGroupNeedsTwoMembersAlike) {
  const auto script = Elementwise({2}, Twice);
  Placement gpu;
  gpu.kind = DeviceKind::kGpu;
  const ComPtr<IWinMLStage> a = AddModelOn(script, {}, L"a");
  const ComPtr<IWinMLStage> b = AddModelOn(script, gpu, L"b");
  const ComPtr<IWinMLOrtStageOptions> of_a = Query<IWinMLOrtStageOptions>(a.Get());
  const ComPtr<IWinMLOrtStageOptions> of_b = Query<IWinMLOrtStageOptions>(b.Get());
  ASSERT_EQ(S_OK, of_a->SetSharedContextGroup(L"g"));
  ExpectError(E_INVALIDARG, BuildFails(), "one member only, stage 'a'");
  ASSERT_EQ(S_OK, of_b->SetSharedContextGroup(L"g"));
  ExpectError(E_INVALIDARG, BuildFails(), "differ in provider, device or provider options");
  ASSERT_EQ(S_OK, of_a->ClearSharedContextGroup());
  ASSERT_EQ(S_OK, of_b->ClearSharedContextGroup());
  EXPECT_TRUE(PipelineTest::Build());
}

TEST_F(Build, MembersOfAGroupArePreparedTogetherAndTheLastOneClosesIt) {
  using Entries = std::vector<std::pair<std::string, std::string>>;
  const auto script = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> a = AddModel(script);
  const ComPtr<IWinMLStage> between = AddModel(script);
  const ComPtr<IWinMLStage> b = AddModel(script);
  ASSERT_EQ(S_OK, Query<IWinMLOrtStageOptions>(between.Get())->SetSessionConfigEntry(L"mine", L"1"));
  ASSERT_EQ(S_OK, Query<IWinMLOrtStageOptions>(a.Get())->SetSharedContextGroup(L"g"));
  ASSERT_EQ(S_OK, Query<IWinMLOrtStageOptions>(b.Get())->SetSharedContextGroup(L"g"));
  const ComPtr<IWinMLPipeline> pipeline = PipelineTest::Build();
  ASSERT_EQ(3u, script->created_with.size());
  EXPECT_EQ((Entries{{"ep.share_ep_contexts", "1"}}), script->created_with[0].session_config);
  EXPECT_EQ((Entries{{"ep.share_ep_contexts", "1"}, {"ep.stop_share_ep_contexts", "1"}}),
            script->created_with[1].session_config);
  EXPECT_EQ((Entries{{"mine", "1"}}), script->created_with[2].session_config);
}

// A tensor of the application's is asked for its type during Build and calls back.
class MeddlingTensor final : public IWinMLTensor {
 public:
  explicit MeddlingTensor(std::function<void()> meddle) : meddle_(std::move(meddle)) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLTensor)) return E_NOINTERFACE;
    *object = this;
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE GetDesc(WINML_TENSOR_DESC* desc) override {
    if (armed) meddle_();
    *desc = {WINML_TENSOR_DATA_TYPE_FLOAT32, 1, &extent_};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Lock(WINML_TENSOR_LOCK_MODE, WINML_TENSOR_LOCK_FLAGS, IWinMLTensorDataLock**) override {
    return E_NOTIMPL;
  }

  bool armed = false;

 private:
  std::function<void()> meddle_;
  UINT64 extent_ = 2;
};

TEST_F(Build, AnswersBusyToWhoCallsBackDuringIt) {
  ComPtr<IWinMLStage> stage;
  HRESULT build = S_OK, connect = S_OK, bind = S_OK, option = S_OK;
  MeddlingTensor tensor([&] {
    ComPtr<IWinMLPipeline> pipeline;
    build = builder_->Build(pipeline.GetAddressOf());
    connect = builder_->Connect(stage.Get(), 0, stage.Get(), 0);
    bind = stage->BindInput(0, nullptr);
    option = Query<IWinMLStatefulStageOptions>(stage.Get())->SetSequenceCapacityHint(1);
  });
  stage = AddModel(Elementwise({2}, Twice));
  ASSERT_EQ(S_OK, stage->BindInput(0, &tensor));
  tensor.armed = true;
  const ComPtr<IWinMLPipeline> pipeline = PipelineTest::Build();
  EXPECT_EQ(kBusy, build);
  EXPECT_EQ(kBusy, connect);
  EXPECT_EQ(kBusy, bind);
  EXPECT_EQ(kBusy, option);
  EXPECT_EQ(S_OK, stage->BindInput(0, nullptr));  // the tensor ends before the handles do
}

}  // namespace
}  // namespace owml::test
