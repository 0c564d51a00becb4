// The CUDA device as the engine meets it: found, chosen by a stage, its memory, its failures, its lists of the best.
#include <algorithm>

#include "backend/native/best_list.h"
#include "backend/native/cuda/cuda_fixture.h"
#include "backend/native/device/cuda/cuda_devices.h"
#include "base/error.h"

namespace owml::test {
namespace {

using namespace owml::native;  // NOLINT
using cuda_emulation::CountsSoFar;

template <class F>
void ExpectError(F&& f, HRESULT code, const std::string& part) {
  EXPECT_THAT(f, testing::Throws<Error>(testing::AllOf(testing::Property(&Error::code, code),
                                                       testing::Property(&Error::what, testing::HasSubstr(part)))));
}

class CudaDeviceTest : public testing::Test {
 protected:
  std::filesystem::path Path(RandomModel model = RandomModels().front()) {
    return folder_.Write("m.gguf", RandomModelFile(model).Bytes());
  }
  static SessionOptions OptionsFor(const std::string& id = "") {
    SessionOptions options;
    options.device = DeviceKind::kGpu;
    options.device_id = id;
    options.sequence_capacity_hint = 64;
    options.batch_size = 32;
    return options;
  }
  void TearDown() override {
    cuda_emulation::BreakAtLaunch(0);
    cuda_emulation::SetMemory(UINT64_MAX);
  }

  TemporaryFolder folder_;
  const ForwardSettings settings_{.capacity = 100, .batch_size = 64, .threads = 2, .slots = 3, .best = 64};
};

TEST_F(CudaDeviceTest, GpusAreListedAndAStageOnOneRunsThereAndSaysSo) {
  const auto devices = MakeNativeBackend()->Devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].kind, DeviceKind::kGpu);
  EXPECT_EQ(devices[1].id, "CUDA1");
  EXPECT_EQ(devices[1].name, "Emulated GPU 1");
  const auto model = LoadNative(Path());
  const auto session = model->CreateSession(OptionsFor("CUDA1"));
  EXPECT_EQ(session->report().device, DeviceKind::kGpu);
  EXPECT_THAT(session->report().engine_reason, testing::HasSubstr("native engine (CUDA1, Emulated GPU 1): "));
  const auto launches = CountsSoFar().launches;
  const auto logits = RunTokens(*session, {1, 75, 104});
  EXPECT_GT(CountsSoFar().launches, launches);
  EXPECT_LT(RelativeDistance(logits, RunTokens(*model->CreateSession({}), {1, 75, 104})), 1e-3);
}

TEST_F(CudaDeviceTest, ADeviceThatIsNotThereIsRefused) {
  const auto model = LoadNative(Path());
  ExpectError([&] { model->CreateSession(OptionsFor("CUDA7")); }, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "'CUDA7'");
}

TEST_F(CudaDeviceTest, SessionsShareOneCopyOfTheWeightsWhichGoesWithTheLast) {
  const auto weights = LoadWeights(Path());
  const auto before = CountsSoFar();
  auto first = OnGpu(weights, settings_);
  const auto between = CountsSoFar();
  EXPECT_GE(between.bytes_in - before.bytes_in, weights->memory().size());
  auto second = OnGpu(weights, settings_);
  const auto after = CountsSoFar();
  EXPECT_LT(after.bytes_in - between.bytes_in, weights->memory().size() / 100);
  EXPECT_EQ(after.bytes_in_use - between.bytes_in_use,
            between.bytes_in_use - before.bytes_in_use - weights->memory().size());
  first.reset();
  second.reset();
  EXPECT_EQ(CountsSoFar().bytes_in_use, before.bytes_in_use);
}

TEST_F(CudaDeviceTest, AStepTakesNoMemoryAndWaitsOnlyAtItsEndAndForResults) {
  const auto gpu = OnGpu(LoadWeights(Path()), settings_);
  const uint32_t slot = *gpu->Add();
  const auto before = CountsSoFar();
  const auto tokens = RandomTokens(60, kTinyVocabulary);
  const Continuation step{slot, tokens, LogitRows::kNone};
  gpu->Step({&step, 1}, {});
  EXPECT_EQ(CountsSoFar().waits - before.waits, 1u);
  Append(*gpu, slot, std::span(tokens).first(4), LogitRows::kAll);
  EXPECT_EQ(CountsSoFar().waits - before.waits, 1u + 1u + 4u);
  EXPECT_EQ(CountsSoFar().allocations, before.allocations);
}

TEST_F(CudaDeviceTest, AFailureIsToldAndLeavesTheSequenceAsItWas) {
  const auto gpu = OnGpu(LoadWeights(Path()), settings_);
  const uint32_t slot = *gpu->Add();
  const auto tokens = RandomTokens(30, kTinyVocabulary);
  const auto expected = Append(*gpu, slot, tokens);
  gpu->RewindTo(slot, 0);
  Append(*gpu, slot, std::span(tokens).first(10));
  for (const uint64_t launch : {1, 7, 20}) {
    cuda_emulation::BreakAtLaunch(launch);
    ExpectError([&] { Append(*gpu, slot, std::span(tokens).subspan(10)); }, E_FAIL,
                "CUDA0 (Emulated GPU 0) failed: unspecified launch failure");
    EXPECT_EQ(gpu->position(slot), 10u);
  }
  ExpectError([&] { OnGpu(LoadWeights(Path()), settings_); }, E_FAIL, "CUDA0");
  cuda_emulation::BreakAtLaunch(0);
  EXPECT_EQ(Append(*gpu, slot, std::span(tokens).subspan(10)), expected);
}

TEST_F(CudaDeviceTest, TooLittleMemoryIsToldAtBuild) {
  const auto weights = LoadWeights(Path());
  cuda_emulation::SetMemory(CountsSoFar().bytes_in_use + weights->memory().size() / 2);
  ExpectError([&] { OnGpu(weights, settings_); }, E_OUTOFMEMORY,
              "CUDA0 (Emulated GPU 0) has no memory for the weights");
  cuda_emulation::SetMemory(CountsSoFar().bytes_in_use + weights->memory().size() + 1000);
  ExpectError([&] { OnGpu(weights, settings_); }, E_OUTOFMEMORY, "the keys of 3 times 100 tokens");
}

TEST_F(CudaDeviceTest, HeadsThatAreTooWideAreRefusedAtBuild) {
  RandomModel model = RandomModels().front();
  model.head_width = 514;
  const auto loaded = LoadNative(Path(model));
  ExpectError([&] { loaded->CreateSession(OptionsFor()); }, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              "heads of 514 are more than the 512");
}

TEST_F(CudaDeviceTest, TheBestAreTheHighestOfTheWholeRow) {
  const auto models = RandomModels();
  const auto& model = *std::find_if(models.begin(), models.end(), [](const auto& m) { return m.name == "gemma2"; });
  const auto gpu = OnGpu(LoadWeights(Path(model)), settings_);
  for (int i = 0; i < 3; ++i) gpu->Add();
  const auto tokens = RandomTokens(40, kTinyVocabulary);  // more rows than the head takes at once
  const auto rows = Append(*gpu, 0, tokens, LogitRows::kAll);
  for (const uint32_t count : {1u, 5u, 64u}) {
    gpu->RewindTo(0, 0);
    gpu->RewindTo(1, 0);
    std::vector<TokenLogit> best(40 * count);
    std::vector<float> logits(kTinyVocabulary);
    const Continuation steps[] = {{1, std::span(tokens).first(3)}, {0, tokens, LogitRows::kAll, /*best=*/true}};
    gpu->Step(steps, {logits, best, count});
    EXPECT_TRUE(std::equal(logits.begin(), logits.end(), rows.begin() + 2 * kTinyVocabulary));
    for (size_t row = 0; row < tokens.size(); ++row) {
      std::vector<TokenLogit> expected(count);
      Clear(expected);
      Merge(expected, std::span(rows).subspan(row * kTinyVocabulary, kTinyVocabulary), 0);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(best[row * count + i].token, expected[i].token) << "row " << row << ", place " << i;
        ASSERT_EQ(best[row * count + i].logit, expected[i].logit);
      }
    }
  }
}

}  // namespace
}  // namespace owml::test
