// Several threads on one pipeline: who is second is told BUSY, nobody waits, nothing tears.
// Mirrors src/runtime/pipeline_core.h; run under the thread sanitizer.
#include <thread>

#include "runtime/pipeline_core.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 200;

// Runs `work(index)` on every thread and waits for all.
template <class Work>
void OnThreads(int count, Work&& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

// Opens once.
class Gate {
 public:
  void Open() { open_.store(true); }
  void Wait() const {
    while (!open_.load()) std::this_thread::yield();
  }

 private:
  std::atomic<bool> open_{false};
};

class RuntimeThreads : public PipelineTest {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
};

TEST_F(RuntimeThreads, WhileOneRunIsInsideEveryOtherCallIsBusy) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const auto input = Float32({2}, {1, 2});
  ASSERT_EQ(S_OK, stage->BindInput(0, input.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  Gate inside, go_on;
  script_->during_run = [&] {
    inside.Open();
    go_on.Wait();
  };
  HRESULT first = E_FAIL;
  std::thread runner([&] { first = pipeline->Run(); });
  inside.Wait();
  OnThreads(kThreads, [&](int) {
    EXPECT_EQ(kBusy, pipeline->Run());
    EXPECT_EQ(kBusy, pipeline->ResetExecutionState());
    EXPECT_EQ(kBusy, stage->BindInput(0, input.Get()));
    EXPECT_EQ(kBusy, stage->RequestOutput(0));
    EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(stage.Get()));
  });
  go_on.Open();
  runner.join();
  EXPECT_EQ(S_OK, first);
  EXPECT_EQ(1, script_->runs);
  EXPECT_EQ(S_OK, stage->BindInput(0, nullptr));
}

TEST_F(RuntimeThreads, ConcurrentRunsSucceedOrAreBusy) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  std::atomic<int> done{0};
  OnThreads(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const HRESULT result = pipeline->Run();
      if (result == S_OK) {
        ++done;
      } else {
        EXPECT_EQ(kBusy, result);
      }
    }
  });
  EXPECT_GT(done, 0);
  EXPECT_EQ(done, script_->runs);
}

TEST_F(RuntimeThreads, OutputsReadDuringRunsBelongToOneRun) {
  std::atomic<int> number{0};
  script_->compute = [&](std::span<const InputValue>, std::span<const TensorView> outputs) {
    const float value = static_cast<float>(++number);
    for (float& element : Floats(outputs[0])) element = value;
  };
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  std::atomic<bool> stop{false};
  OnThreads(kThreads, [&](int thread) {
    if (thread == 0) {
      for (int round = 0; round < kRounds; ++round) EXPECT_EQ(S_OK, pipeline->Run());
      stop = true;
      return;
    }
    float last = 0;
    while (!stop) {
      const std::vector<float> values = Contents<float>(Output(stage.Get()).Get());
      ASSERT_EQ(2u, values.size());
      EXPECT_EQ(values[0], values[1]);
      EXPECT_GE(values[0], last);
      last = values[0];
    }
  });
}

TEST_F(RuntimeThreads, BindingsAndRunsInterleave) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  const auto input = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2});
  OnThreads(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      HRESULT result = S_OK;
      switch (thread) {
        case 0:
          result = pipeline->Run();
          break;
        case 1:
          result = stage->BindInput(0, round % 2 ? nullptr : input.Get());
          break;
        case 2:
          result = round % 2 ? stage->ResetOutput(0) : stage->RequestOutput(0);
          break;
        default:
          result = GetOutput(stage.Get());
          if (result == kNotFound || result == E_NOT_VALID_STATE) result = S_OK;
      }
      if (thread == 0 && result == E_INVALIDARG) result = S_OK;  // no input bound just then
      EXPECT_TRUE(result == S_OK || result == kBusy) << thread << ": " << result;
    }
  });
  ASSERT_EQ(S_OK, stage->BindInput(0, nullptr));
  EXPECT_EQ(1u, input->references());
}

TEST_F(RuntimeThreads, APublishedTensorMayBeWrittenWhileTheLoopGoesOn) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage.Get(), 0, stage.Get(), 0));
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {0, 0}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  std::atomic<bool> stop{false};
  OnThreads(2, [&](int thread) {
    if (thread == 0) {
      for (int round = 0; round < kRounds; ++round) EXPECT_EQ(S_OK, pipeline->Run());
      stop = true;
      return;
    }
    while (!stop) {
      const ComPtr<IWinMLTensor> published = Output(stage.Get());
      const auto lock = LockOf(published.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
      std::memset(DataOf(lock.Get()), 0x3f, 8);
    }
  });
  // The last published tensor may have been written after its run; the loop's own value must not have been.
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{0, 0}), Contents<float>(Output(stage.Get()).Get()));
}

TEST_F(RuntimeThreads, PipelinesOfOneModelRunSideBySide) {
  const ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
  OnThreads(kThreads, [&](int thread) {
    const ComPtr<IWinMLPipelineBuilder> builder = MakePipelineBuilder();
    ComPtr<IWinMLStage> stage;
    ComPtr<IWinMLPipeline> pipeline;
    const float value = static_cast<float>(thread);
    ASSERT_EQ(S_OK, builder->AddModelStage(model.Get(), nullptr, nullptr, stage.GetAddressOf()));
    ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {value, value}).Get()));
    ASSERT_EQ(S_OK, stage->RequestOutput(0));
    ASSERT_EQ(S_OK, builder->Build(pipeline.GetAddressOf()));
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_EQ(S_OK, pipeline->Run());
      EXPECT_EQ((std::vector<float>{2 * value, 2 * value}), Contents<float>(Output(stage.Get()).Get()));
    }
  });
  EXPECT_EQ(0, script_->live_sessions);
}

TEST_F(RuntimeThreads, OneBuilderTakesStagesFromSeveralThreadsAndBuildsOnce) {
  const ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
  std::atomic<int> built{0};
  OnThreads(kThreads, [&](int) {
    for (int round = 0; round < 20; ++round) {
      ComPtr<IWinMLStage> stage;
      EXPECT_EQ(S_OK, builder_->AddModelStage(model.Get(), nullptr, nullptr, stage.GetAddressOf()));
    }
  });
  OnThreads(kThreads, [&](int) {
    ComPtr<IWinMLPipeline> pipeline;
    const HRESULT result = builder_->Build(pipeline.GetAddressOf());
    if (result == S_OK) {
      ++built;
    } else {
      EXPECT_TRUE(result == kBusy || result == E_NOT_VALID_STATE) << result;
    }
  });
  EXPECT_EQ(1, built);
  EXPECT_EQ(static_cast<size_t>(kThreads * 20), script_->created_with.size());
}

TEST_F(RuntimeThreads, HandlesAreReleasedOnOtherThreads) {
  for (int round = 0; round < 20; ++round) {
    ComPtr<IWinMLPipelineBuilder> builder = MakePipelineBuilder();
    ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
    ComPtr<IWinMLStage> stage;
    ComPtr<IWinMLPipeline> pipeline;
    ASSERT_EQ(S_OK, builder->AddModelStage(model.Get(), nullptr, nullptr, stage.GetAddressOf()));
    ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
    ASSERT_EQ(S_OK, stage->RequestOutput(0));
    ASSERT_EQ(S_OK, builder->Build(pipeline.GetAddressOf()));
    ASSERT_EQ(S_OK, pipeline->Run());
    ComPtr<IWinMLTensor> output = Output(stage.Get());
    OnThreads(5, [&](int thread) {
      if (thread == 0) builder.Reset();
      if (thread == 1) model.Reset();
      if (thread == 2) stage.Reset();
      if (thread == 3) pipeline.Reset();
      if (thread == 4) output.Reset();
    });
    EXPECT_EQ(0, script_->live_sessions);
  }
}

TEST_F(RuntimeThreads, OptionsAreSetAndReadFromSeveralThreads) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const auto state = Query<IWinMLStatefulStageOptions>(stage.Get());
  const auto dimensions = Query<IWinMLOnnxSymbolicDimensionOverrides>(stage.Get());
  OnThreads(kThreads, [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      UINT64 hint = 0;
      INT64 extent = 0;
      HRESULT result = S_OK;
      if (thread == 0) result = state->SetSequenceCapacityHint(static_cast<UINT64>(round));
      if (thread == 1) result = dimensions->SetOverride(L"n", round + 1);
      if (thread == 2) result = state->GetSequenceCapacityHint(&hint);
      if (thread == 3) result = dimensions->TryGetOverride(L"n", &extent);
      if (result == S_FALSE) result = S_OK;  // not set yet
      EXPECT_TRUE(result == S_OK || result == kBusy) << result;
    }
  });
}

}  // namespace
}  // namespace owml::test
