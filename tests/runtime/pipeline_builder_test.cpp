// What the builder accepts and refuses while stages and edges are collected.
// Mirrors src/runtime/pipeline_builder.cpp.
#include "runtime/pipeline_builder.h"

#include "runtime/execution_target.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

class PipelineBuilder : public PipelineTest {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
  ComPtr<IWinMLModel> model_ = MakeModel(MakeFakeModel(script_));
};

TEST_F(PipelineBuilder, NullPointersAreRefused) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  ComPtr<IWinMLStage> stage;
  EXPECT_EQ(E_POINTER, builder_->AddModelStage(nullptr, nullptr, nullptr, stage.GetAddressOf()));
  EXPECT_EQ(E_POINTER, builder_->AddModelStage(model_.Get(), nullptr, nullptr, nullptr));
  EXPECT_EQ(E_POINTER, builder_->AddProcessorStage(nullptr, nullptr, nullptr, stage.GetAddressOf()));
  EXPECT_EQ(E_POINTER, builder_->AddProcessorStage(processor.Get(), nullptr, nullptr, nullptr));
  EXPECT_EQ(E_POINTER, builder_->Build(nullptr));
  stage = AddModel(script_);
  EXPECT_EQ(E_POINTER, builder_->Connect(nullptr, 0, stage.Get(), 0));
  EXPECT_EQ(E_POINTER, builder_->Connect(stage.Get(), 0, nullptr, 0));
  EXPECT_EQ(E_POINTER, builder_->ConnectNextIteration(nullptr, 0, stage.Get(), 0));
  EXPECT_EQ(E_POINTER, builder_->ConnectNextIteration(stage.Get(), 0, nullptr, 0));
  EXPECT_EQ(1u, processor->references);
}

TEST_F(PipelineBuilder, AFailingCallClearsItsOutPointer) {
  IWinMLStage* stage = reinterpret_cast<IWinMLStage*>(uintptr_t{16});
  EXPECT_EQ(E_POINTER, builder_->AddModelStage(nullptr, nullptr, nullptr, &stage));
  EXPECT_EQ(nullptr, stage);
  IWinMLPipeline* pipeline = reinterpret_cast<IWinMLPipeline*>(uintptr_t{16});
  EXPECT_EQ(E_INVALIDARG, builder_->Build(&pipeline));
  EXPECT_EQ(nullptr, pipeline);
}

TEST_F(PipelineBuilder, ObjectsOfTheApplicationAreNoModelsTargetsOrStages) {
  ForeignModel model;
  ForeignTarget target;
  ForeignStage foreign;
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  ComPtr<IWinMLStage> stage;
  ExpectError(E_INVALIDARG, builder_->AddModelStage(&model, nullptr, L"m", stage.GetAddressOf()), "stage 'm'");
  ExpectError(E_INVALIDARG, builder_->AddModelStage(model_.Get(), &target, nullptr, stage.GetAddressOf()), "target");
  ExpectError(E_INVALIDARG, builder_->AddProcessorStage(processor.Get(), &target, nullptr, stage.GetAddressOf()),
              "target");
  EXPECT_FALSE(stage);
  stage = AddModel(script_);
  ExpectError(E_INVALIDARG, Connect(&foreign, 0, stage.Get(), 0), "sourceStage");
  ExpectError(E_INVALIDARG, Connect(stage.Get(), 0, &foreign, 0), "targetStage");
  ExpectError(E_INVALIDARG, builder_->ConnectNextIteration(&foreign, 0, stage.Get(), 0), "sourceStage");
}

TEST_F(PipelineBuilder, StagesOfAnotherBuilderAreRefused) {
  const ComPtr<IWinMLStage> own = AddModel(script_);
  const ComPtr<IWinMLPipelineBuilder> other = MakePipelineBuilder();
  ComPtr<IWinMLStage> theirs;
  ASSERT_EQ(S_OK, other->AddModelStage(model_.Get(), nullptr, nullptr, theirs.GetAddressOf()));
  EXPECT_EQ(E_INVALIDARG, Connect(theirs.Get(), 0, own.Get(), 0));
  EXPECT_EQ(E_INVALIDARG, Connect(own.Get(), 0, theirs.Get(), 0));
  EXPECT_EQ(E_INVALIDARG, builder_->ConnectNextIteration(own.Get(), 0, theirs.Get(), 0));
}

TEST_F(PipelineBuilder, IndexesOutOfAKnownRangeAreRefused) {
  const ComPtr<IWinMLStage> a = AddModel(script_, L"a");
  const ComPtr<IWinMLStage> b = AddModel(script_, L"b");
  ExpectError(E_INVALIDARG, Connect(a.Get(), 1, b.Get(), 0), "output 1 of stage 'a'");
  ExpectError(E_INVALIDARG, Connect(a.Get(), 0, b.Get(), 1), "input 1 of stage 'b'");
  ExpectError(E_INVALIDARG, builder_->ConnectNextIteration(a.Get(), UINT32_MAX, b.Get(), 0), "output 4294967295");
}

TEST_F(PipelineBuilder, IndexesOfAnUnsettledSchemaAreCheckedByBuild) {
  script_->declares_schema = false;
  const ComPtr<IWinMLStage> a = AddModel(script_, L"a");
  const ComPtr<IWinMLStage> b = AddModel(script_, L"b");
  EXPECT_EQ(S_OK, Connect(a.Get(), 9, b.Get(), 0));
  ExpectError(E_INVALIDARG, BuildFails(), "output 9 of stage 'a' does not exist");
}

TEST_F(PipelineBuilder, AnInputTakesOneSourceOnly) {
  const ComPtr<IWinMLStage> a = AddModel(script_, L"a");
  const ComPtr<IWinMLStage> b = AddModel(script_, L"b");
  const ComPtr<IWinMLStage> c = AddModel(script_, L"c");
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ExpectError(E_INVALIDARG, Connect(c.Get(), 0, b.Get(), 0), "already fed by output 0 of stage 'a'");
  EXPECT_EQ(E_INVALIDARG, Connect(a.Get(), 0, b.Get(), 0));
  EXPECT_EQ(E_INVALIDARG, builder_->ConnectNextIteration(c.Get(), 0, b.Get(), 0));
  EXPECT_EQ(E_INVALIDARG, Connect(c.Get(), 0, c.Get(), 0));
}

TEST_F(PipelineBuilder, ASuccessfulBuildConsumesTheBuilder) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ComPtr<IWinMLStage> more;
  EXPECT_EQ(E_NOT_VALID_STATE, BuildFails());
  EXPECT_EQ(E_NOT_VALID_STATE, builder_->AddModelStage(model_.Get(), nullptr, nullptr, more.GetAddressOf()));
  EXPECT_EQ(E_NOT_VALID_STATE, builder_->AddProcessorStage(processor.Get(), nullptr, nullptr, more.GetAddressOf()));
  EXPECT_EQ(E_NOT_VALID_STATE, Connect(stage.Get(), 0, stage.Get(), 0));
  EXPECT_EQ(E_NOT_VALID_STATE, builder_->ConnectNextIteration(stage.Get(), 0, stage.Get(), 0));
  // a null pointer is worse than the state
  EXPECT_EQ(E_POINTER, builder_->AddModelStage(nullptr, nullptr, nullptr, more.GetAddressOf()));
  EXPECT_EQ(E_POINTER, Connect(nullptr, 0, stage.Get(), 0));
  EXPECT_EQ(1u, processor->references);
}

TEST_F(PipelineBuilder, AFailedBuildLeavesTheBuilderOpenAndNothingPrepared) {
  script_->create_result = E_ACCESSDENIED;
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ExpectError(E_ACCESSDENIED, BuildFails(), "the script says");
  ComPtr<IWinMLExecutionTarget> target;
  EXPECT_EQ(E_NOT_VALID_STATE, stage->GetExecutionTarget(target.GetAddressOf()));
  script_->create_result = S_OK;
  EXPECT_TRUE(Build());
}

TEST_F(PipelineBuilder, TheSecondModelsFailureFreesTheFirstOnesSession) {
  const auto failing = Elementwise({2}, Twice);
  failing->create_result = E_FAIL;
  AddModel(script_);
  AddModel(failing);
  EXPECT_EQ(E_FAIL, BuildFails());
  EXPECT_EQ(1u, script_->created_with.size());
  EXPECT_EQ(0, script_->live_sessions);
}

TEST_F(PipelineBuilder, NamesStagesAsTheyWereAdded) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  LPCWSTR name = nullptr;
  EXPECT_EQ(S_OK, AddModel(script_, L"d\u00e9codeur \u4e2d")->GetDebugName(&name));
  const ComPtr<IWinMLStage> stage = AddProcessor(processor, L"p");
  ASSERT_EQ(S_OK, stage->GetDebugName(&name));
  EXPECT_STREQ(L"p", name);
  const ComPtr<IWinMLStage> nameless = AddModel(script_);
  ASSERT_EQ(S_OK, nameless->GetDebugName(&name));
  EXPECT_STREQ(L"", name);
  EXPECT_EQ(E_POINTER, nameless->GetDebugName(nullptr));
}

TEST_F(PipelineBuilder, ANamelessStageIsCalledByItsNumber) {
  AddModel(script_);
  const ComPtr<IWinMLStage> second = AddModel(script_);
  ExpectError(E_INVALIDARG, second->BindInput(3, nullptr), "stage 1");
}

TEST_F(PipelineBuilder, ProcessorsRunOnTheCpuOnly) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  ComPtr<IWinMLStage> stage;
  Placement gpu;
  gpu.kind = DeviceKind::kGpu;
  const ComPtr<IWinMLExecutionTarget> target = MakeExecutionTarget(gpu);
  ExpectError(E_INVALIDARG, builder_->AddProcessorStage(processor.Get(), target.Get(), L"p", stage.GetAddressOf()),
              "CPU");
  EXPECT_EQ(S_OK,
            builder_->AddProcessorStage(processor.Get(), MakeExecutionTarget({}).Get(), L"p", stage.GetAddressOf()));
  Build();
}

TEST_F(PipelineBuilder, AProcessorMayStandOnTheTargetOfAPinnedModel) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  ComPtr<IWinMLStage> stage;
  Placement pinned;
  pinned.provider = "CPUExecutionProvider";
  ASSERT_EQ(S_OK, builder_->AddProcessorStage(processor.Get(), MakeExecutionTarget(pinned).Get(), nullptr,
                                              stage.GetAddressOf()));
  Build();
}

// A processor is the application's code: what it calls back must be answered, not waited for.
class MeddlingProcessor final : public AppProcessor {
 public:
  explicit MeddlingProcessor(IWinMLPipelineBuilder* builder) : AppProcessor({2}, Twice), builder_(builder) {}

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) override {
    ComPtr<IWinMLPipeline> pipeline;
    build = builder_->Build(pipeline.GetAddressOf());
    return AppProcessor::GetInputCount(count);
  }

  HRESULT build = S_OK;

 private:
  IWinMLPipelineBuilder* builder_;
};

TEST_F(PipelineBuilder, AProcessorMayCallTheBuilderWhileItIsAdded) {
  ComPtr<MeddlingProcessor> processor;
  processor.Attach(new MeddlingProcessor(builder_.Get()));
  const ComPtr<IWinMLStage> stage = AddProcessor(processor.Get());
  EXPECT_EQ(E_INVALIDARG, processor->build);  // no stages yet
  EXPECT_TRUE(Build());
}

TEST_F(PipelineBuilder, AProcessorThatBuildsWhileItIsAddedIsLeftOut) {
  AddModel(script_);
  ComPtr<MeddlingProcessor> processor;
  processor.Attach(new MeddlingProcessor(builder_.Get()));
  ComPtr<IWinMLStage> stage;
  EXPECT_EQ(E_NOT_VALID_STATE, builder_->AddProcessorStage(processor.Get(), nullptr, nullptr, stage.GetAddressOf()));
  EXPECT_EQ(S_OK, processor->build);
  EXPECT_EQ(1u, processor->references);
}

// Answers no interface, but calls the builder when it is asked.
class MeddlingStage final : public ForeignStageBase {
 public:
  explicit MeddlingStage(IWinMLPipelineBuilder* builder) : builder_(builder) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    ComPtr<IWinMLPipeline> pipeline;
    build = builder_->Build(pipeline.GetAddressOf());
    return E_NOINTERFACE;
  }

  HRESULT build = S_OK;

 private:
  IWinMLPipelineBuilder* builder_;
};

TEST_F(PipelineBuilder, AForeignStageMayCallTheBuilderWhenItIsAsked) {
  MeddlingStage foreign(builder_.Get());
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  EXPECT_EQ(E_NOT_VALID_STATE, Connect(&foreign, 0, stage.Get(), 0));
  EXPECT_EQ(S_OK, foreign.build);
}

}  // namespace
}  // namespace owml::test
