// Runs of graphs of models and processors: order, fan-out, failures in the middle, application tensors.
// Mirrors src/runtime/run.cpp.
#include "runtime/run.h"

#include "runtime_test_support.h"

namespace owml::test {
namespace {

class Run : public PipelineTest {};

TEST_F(Run, MixedPipelineGivesTheSameResultInEveryOrderOfAdding) {
  std::vector<int> order = {0, 1, 2};
  do {
    builder_ = MakePipelineBuilder();
    const auto first = Elementwise({2}, Twice);
    const auto last = Elementwise({2}, [](float x) { return x * x; });
    last->onnx = false;  // as a GGUF stage
    last->declares_schema = false;
    const ComPtr<AppProcessor> processor = NewProcessor({2}, PlusOne);
    ComPtr<IWinMLStage> stages[3];
    for (const int which : order) {
      stages[which] = which == 0   ? AddModel(first, L"first")
                      : which == 1 ? AddProcessor(processor)
                                   : AddModel(last, L"last");
    }
    ASSERT_EQ(S_OK, Connect(stages[1].Get(), 0, stages[2].Get(), 0));
    ASSERT_EQ(S_OK, Connect(stages[0].Get(), 0, stages[1].Get(), 0));
    ASSERT_EQ(S_OK, stages[0]->BindInput(0, Float32({2}, {1, 2}).Get()));
    const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stages[2].Get());
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ((std::vector<float>{9, 25}), Contents<float>(Output(stages[2].Get()).Get()));
    stages[1].Reset();
    stages[0].Reset();
    stages[2].Reset();
    builder_.Reset();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(Run, OneOutputFeedsSeveralStagesAndTheCaller) {
  const auto source = Elementwise({2}, Twice);
  const auto sum = std::make_shared<FakeScript>();
  sum->schema.inputs = {Spec({2}), Spec({2}), Spec({2})};
  sum->schema.outputs = {Spec({2})};
  sum->compute = [](std::span<const InputValue> in, std::span<const TensorView> out) {
    for (size_t i = 0; i < 2; ++i) {
      Floats(out[0])[i] = Floats(in[0].view)[i] + Floats(in[1].view)[i] + Floats(in[2].view)[i];
    }
  };
  const ComPtr<AppProcessor> processor = NewProcessor({2}, PlusOne);
  const ComPtr<IWinMLStage> end = AddModel(sum);
  const ComPtr<IWinMLStage> side = AddProcessor(processor);
  const ComPtr<IWinMLStage> start = AddModel(source);
  ASSERT_EQ(S_OK, Connect(start.Get(), 0, end.Get(), 0));
  ASSERT_EQ(S_OK, Connect(start.Get(), 0, end.Get(), 1));
  ASSERT_EQ(S_OK, Connect(start.Get(), 0, side.Get(), 0));
  ASSERT_EQ(S_OK, Connect(side.Get(), 0, end.Get(), 2));
  ASSERT_EQ(S_OK, start->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, start->RequestOutput(0));
  ASSERT_EQ(S_OK, side->RequestOutput(0));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(end.Get());
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(Output(start.Get()).Get()));
    EXPECT_EQ((std::vector<float>{3, 5}), Contents<float>(Output(side.Get()).Get()));
    EXPECT_EQ((std::vector<float>{7, 13}), Contents<float>(Output(end.Get()).Get()));
  }
}

TEST_F(Run, ABoundOutputAlsoFeedsTheNextStage) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice));
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, PlusOne));
  const ComPtr<IWinMLTensor> middle = Float32({2}, {0, 0});
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, a->BindOutput(0, middle.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(b.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(middle.Get()));
  EXPECT_EQ((std::vector<float>{3, 5}), Contents<float>(Output(b.Get()).Get()));
}

TEST_F(Run, AResetOutputStillFeedsTheNextStage) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice));
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, PlusOne));
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, a->RequestOutput(0));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(b.Get());
  ASSERT_EQ(S_OK, a->ResetOutput(0));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{3, 5}), Contents<float>(Output(b.Get()).Get()));
}

TEST_F(Run, OutputsThatNobodyWantsAreNotAskedFor) {
  const auto script = Elementwise({2}, Twice);
  script->schema.outputs = {Spec({2}), Spec({2}), Spec({2})};
  const ComPtr<IWinMLStage> a = AddModel(script);
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, Twice));
  ASSERT_EQ(S_OK, Connect(a.Get(), 1, b.Get(), 0));
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, a->RequestOutput(2));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<bool>{false, true, true}), script->last_wanted);
}

TEST_F(Run, FreeExtentsTakeTheirSizeFromEachRunsInputs) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({kFreeDimension}, Twice));
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({kFreeDimension}, PlusOne));
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(b.Get());
  for (const std::vector<float>& values : {std::vector<float>{1}, std::vector<float>{1, 2, 3}, std::vector<float>{}}) {
    ASSERT_EQ(S_OK, a->BindInput(0, Float32({values.size()}, values).Get()));
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ((std::vector<UINT64>{values.size()}), DimsOf(Output(b.Get()).Get()));
  }
}

TEST_F(Run, AConcreteInputRefusesWhatAFreeOutputLeft) {
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({kFreeDimension}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, PlusOne), L"b");
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(b.Get());
  EXPECT_EQ(E_INVALIDARG, pipeline->Run());
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(b.Get()));
}

TEST_F(Run, AMissingInputIsNamedBeforeAnythingRuns) {
  const auto first = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> a = AddModel(first, L"a");
  const ComPtr<IWinMLStage> b = AddModel(Elementwise({2}, Twice), L"b");
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ExpectError(E_INVALIDARG, pipeline->Run(), "input 0 of stage 'b' is neither connected nor bound");
  EXPECT_EQ(0, first->runs);
  ASSERT_EQ(S_OK, b->BindInput(0, Float32({2}, {1, 2}).Get()));
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(Run, ASessionMayFeedAnUnboundInputItself) {
  const auto script = Elementwise({2}, Twice);
  script->schema.inputs.push_back(Spec({1}, DType::kInt64, "position"));
  script->fed_inputs = {1};
  const ComPtr<IWinMLStage> stage = AddModel(script);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(Run, AFailureInTheMiddlePublishesNothing) {
  const auto last = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> a = AddModel(Elementwise({2}, Twice), L"a");
  const ComPtr<IWinMLStage> b = AddModel(last, L"b");
  ASSERT_EQ(S_OK, Connect(a.Get(), 0, b.Get(), 0));
  ASSERT_EQ(S_OK, a->RequestOutput(0));
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(b.Get());
  last->run_result = E_ABORT;
  ExpectError(E_ABORT, pipeline->Run(), "the script says that the run fails");
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(a.Get()));
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(b.Get()));
  last->run_result = S_OK;
  ASSERT_EQ(S_OK, pipeline->Run());
  const ComPtr<IWinMLTensor> of_a = Output(a.Get());
  const ComPtr<IWinMLTensor> of_b = Output(b.Get());
  last->run_result = E_ABORT;
  ASSERT_EQ(S_OK, a->BindInput(0, Float32({2}, {7, 8}).Get()));
  EXPECT_EQ(E_ABORT, pipeline->Run());
  EXPECT_EQ(of_a.Get(), Output(a.Get()).Get());
  EXPECT_EQ(of_b.Get(), Output(b.Get()).Get());
  EXPECT_EQ((std::vector<float>{4, 8}), Contents<float>(of_b.Get()));
}

TEST_F(Run, AnswersBusyToWhoCallsBackDuringIt) {
  const auto script = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> stage = AddModel(script);
  const ComPtr<IWinMLTensor> input = Float32({2}, {1, 2});
  ASSERT_EQ(S_OK, stage->BindInput(0, input.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  std::vector<HRESULT> answers;
  HRESULT read = E_FAIL;
  HRESULT option = S_OK;
  script->during_run = [&] {
    ComPtr<IWinMLFence> fence;
    const auto state = Query<IWinMLStatefulStage>(stage.Get());
    UINT64 position = 0;
    answers = {pipeline->Run(),
               pipeline->ResetExecutionState(),
               stage->BindInput(0, nullptr),
               stage->BindOutput(0, input.Get()),
               stage->RequestOutput(0),
               stage->ResetOutput(0),
               state->GetSequencePosition(&position),
               state->RewindTo(0),
               Query<IWinMLPipelineExecution>(pipeline.Get())->Submit(nullptr, fence.GetAddressOf())};
    read = GetOutput(stage.Get());
    option = Query<IWinMLStatefulStageOptions>(stage.Get())->SetSequenceCapacityHint(1);
  };
  EXPECT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(std::vector<HRESULT>(9, kBusy), answers);
  EXPECT_EQ(S_OK, read);  // the last run's
  EXPECT_EQ(E_NOT_VALID_STATE, option);
}

TEST_F(Run, AFailedRunFreesThePipeline) {
  const auto script = Elementwise({2}, Twice);
  const ComPtr<IWinMLStage> stage = AddModel(script);
  const ComPtr<IWinMLTensor> input = Float32({2}, {1, 2});
  ASSERT_EQ(S_OK, stage->BindInput(0, input.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  script->run_result = E_FAIL;
  EXPECT_EQ(E_FAIL, pipeline->Run());
  EXPECT_EQ(S_OK, TryLock(input.Get(), WINML_TENSOR_LOCK_MODE_WRITE));
  script->run_result = S_OK;
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(Run, ApplicationTensorsAreReadAndWritten) {
  const ComPtr<IWinMLStage> stage = AddModel(Elementwise({2}, Twice));
  const auto input = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2});
  const auto output = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {0, 0}, {.needs_synchronization = true});
  ASSERT_EQ(S_OK, stage->BindInput(0, input.Get()));
  ASSERT_EQ(S_OK, stage->BindOutput(0, output.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  float result[2];
  std::memcpy(result, output->bytes().data(), sizeof(result));
  EXPECT_EQ(2, result[0]);
  EXPECT_EQ(4, result[1]);
  EXPECT_EQ(1, output->commits);
  EXPECT_EQ(0, input->open_locks);
  EXPECT_EQ(0, output->open_locks);
}

TEST_F(Run, AFailingRunCommitsNothingToAnApplicationTensor) {
  const auto script = Elementwise({2}, Twice);
  script->run_result = E_FAIL;
  const ComPtr<IWinMLStage> stage = AddModel(script);
  const auto output = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {0, 0}, {.needs_synchronization = true});
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, stage->BindOutput(0, output.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(E_FAIL, pipeline->Run());
  EXPECT_EQ(0, output->commits);
  EXPECT_EQ(0, output->open_locks);
}

TEST_F(Run, LyingApplicationTensorsFailTheRun) {
  const struct {
    StrangerConduct conduct;
    HRESULT wanted;
  } cases[] = {{{.lock_result = E_ACCESSDENIED}, E_ACCESSDENIED},
               {{.data_result = E_ABORT}, E_ABORT},
               {{.forgets_lock = true}, E_INVALIDARG},
               {{.null_data = true}, E_INVALIDARG},
               {{.size_error = -1}, E_INVALIDARG},
               {{.lock_result = E_FAIL, .leaves_rubbish = true}, E_FAIL}};
  for (const auto& [conduct, wanted] : cases) {
    builder_ = MakePipelineBuilder();
    const auto script = Elementwise({2}, Twice);
    const ComPtr<IWinMLStage> stage = AddModel(script);
    const auto stranger = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2}, conduct);
    ASSERT_EQ(S_OK, stage->BindInput(0, stranger.Get()));
    const ComPtr<IWinMLPipeline> pipeline = Build();
    EXPECT_EQ(wanted, pipeline->Run());
    EXPECT_EQ(0, script->runs);
    EXPECT_EQ(0, stranger->open_locks);
  }
}

TEST_F(Run, ATensorThatGrowsAfterItWasBoundIsCheckedAgain) {
  const ComPtr<IWinMLStage> stage = AddModel(Elementwise({3}, Twice));
  const auto grows = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2, 3}, {.grows = true});
  ASSERT_EQ(S_OK, stage->BindInput(0, grows.Get()));  // tells 3 now, 4 at Build
  EXPECT_EQ(E_INVALIDARG, BuildFails());
}

TEST_F(Run, ATensorWithAMalformedDescriptorIsRefused) {
  const ComPtr<IWinMLStage> stage = AddModel(Elementwise({2}, Twice));
  const auto nameless = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2}, {.null_dimensions = true});
  EXPECT_EQ(E_INVALIDARG, stage->BindInput(0, nameless.Get()));
  const auto failing = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2}, {.desc_result = E_ABORT});
  ExpectError(E_ABORT, stage->BindInput(0, failing.Get()), "input 0");
  EXPECT_EQ(1u, failing->references());
}

}  // namespace
}  // namespace owml::test
