// A steady-state Run with bound inputs and outputs takes no memory, nor does one that gives the highest logits.
// Mirrors src/runtime/run.cpp; a program of its own, because it replaces operator new.
#include <openwinml/pipeline_best_tokens.h>

#include <cstdlib>
#include <new>

#include "runtime_test_support.h"

namespace {
std::atomic<bool> g_counting{false};
std::atomic<int> g_allocations{0};

void* Allocate(size_t size) {
  if (g_counting) ++g_allocations;
  void* memory = std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace owml::test {
namespace {

// Adds one to every float; takes no memory itself when its output is bound.
class PlusOneSession final : public BackendSession, private BestTokens {
 public:
  explicit PlusOneSession(const Schema& schema) : schema_(schema) {}
  const Schema& schema() const override { return schema_; }
  SessionReport report() const override { return {}; }
  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) override {
    if (!outputs[0].wanted) return;
    const std::span<float> from = Floats(inputs[0].view);
    const std::span<float> to = Floats(outputs[0].destination.value());
    std::transform(from.begin(), from.end(), to.begin(), PlusOne);
  }
  BestTokens* best_tokens() override { return this; }

 private:
  uint32_t max_best_tokens() const override { return 3; }
  void RunForBest(std::span<const InputValue> inputs, std::span<TokenLogit> best) override {
    for (size_t i = 0; i < best.size(); ++i) best[i] = {static_cast<int32_t>(i), Floats(inputs[0].view)[i]};
  }

  const Schema& schema_;
};

class PlusOneModel final : public BackendModel {
 public:
  const Schema* declared_schema() const override { return &schema_; }
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions&) const override {
    return std::make_unique<PlusOneSession>(schema_);
  }

 private:
  Schema schema_ = {{Spec({3})}, {Spec({3})}};
};

class RunAllocation : public PipelineTest {
 protected:
  ComPtr<IWinMLStage> AddPlusOne() {
    ComPtr<IWinMLStage> stage;
    EXPECT_EQ(S_OK, builder_->AddModelStage(MakeModel(std::make_shared<PlusOneModel>()).Get(), nullptr, nullptr,
                                            stage.GetAddressOf()));
    return stage;
  }

  static int AllocationsOfARun(IWinMLPipeline* pipeline) {
    EXPECT_EQ(S_OK, pipeline->Run());  // the first run may fill what later ones reuse
    g_allocations = 0;
    g_counting = true;
    const HRESULT result = pipeline->Run();
    g_counting = false;
    EXPECT_EQ(S_OK, result);
    return g_allocations;
  }
};

TEST_F(RunAllocation, TheCountSeesAnAllocation) {
  g_allocations = 0;
  g_counting = true;
  const ComPtr<IWinMLTensor> tensor = Float32({3}, {1, 2, 3});
  g_counting = false;
  EXPECT_GT(g_allocations, 0);
}

TEST_F(RunAllocation, OneModelWithBoundTensorsTakesNone) {
  const ComPtr<IWinMLStage> stage = AddPlusOne();
  const auto output = Float32({3}, {0, 0, 0});
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  ASSERT_EQ(S_OK, stage->BindOutput(0, output.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(0, AllocationsOfARun(pipeline.Get()));
  EXPECT_EQ((std::vector<float>{2, 3, 4}), Contents<float>(output.Get()));
}

TEST_F(RunAllocation, ConnectedStagesWithBoundTensorsTakeNone) {
  const ComPtr<AppProcessor> processor = NewProcessor({3}, Twice);
  processor->during_execute = [](IWinMLTensor**, IWinMLTensor**) { return S_OK; };  // leaves the bound tensor as it is
  const ComPtr<IWinMLStage> first = AddPlusOne();
  const ComPtr<IWinMLStage> second = AddProcessor(processor);
  const ComPtr<IWinMLStage> third = AddPlusOne();
  const auto output = Float32({3}, {0, 0, 0});
  ASSERT_EQ(S_OK, Connect(first.Get(), 0, second.Get(), 0));
  ASSERT_EQ(S_OK, Connect(second.Get(), 0, third.Get(), 0));
  ASSERT_EQ(S_OK, first->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  ASSERT_EQ(S_OK, first->BindOutput(0, Float32({3}, {0, 0, 0}).Get()));
  ASSERT_EQ(S_OK, second->BindOutput(0, Float32({3}, {5, 6, 7}).Get()));
  ASSERT_EQ(S_OK, third->BindOutput(0, output.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(0, AllocationsOfARun(pipeline.Get()));
  EXPECT_EQ((std::vector<float>{6, 7, 8}), Contents<float>(output.Get()));
}

TEST_F(RunAllocation, ARunForTheBestTokensTakesNone) {
  const ComPtr<IWinMLStage> stage = AddPlusOne();
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto best = Query<IOwmlPipelineBestTokens>(pipeline.Get());
  ASSERT_TRUE(best);
  OWML_TOKEN_LOGIT list[3] = {};
  ASSERT_EQ(S_OK, best->RunForBestTokens(1, list));
  g_allocations = 0;
  g_counting = true;
  const HRESULT result = best->RunForBestTokens(3, list);
  g_counting = false;
  EXPECT_EQ(S_OK, result);
  EXPECT_EQ(0, g_allocations);
  EXPECT_EQ(list[2].logit, 3);
}

TEST_F(RunAllocation, ANewBindingTakesNoneEither) {
  const ComPtr<IWinMLStage> stage = AddPlusOne();
  const auto first = Float32({3}, {1, 2, 3});
  const auto second = Float32({3}, {4, 5, 6});
  const auto output = Float32({3}, {0, 0, 0});
  ASSERT_EQ(S_OK, stage->BindInput(0, first.Get()));
  ASSERT_EQ(S_OK, stage->BindOutput(0, output.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, stage->BindInput(0, second.Get()));
  EXPECT_EQ(0, AllocationsOfARun(pipeline.Get()));
  EXPECT_EQ((std::vector<float>{5, 6, 7}), Contents<float>(output.Get()));
}

}  // namespace
}  // namespace owml::test
