// Rings of layers that see a window: little memory, the bits of a cache that keeps everything, and no way back to what
// is forgotten.
#include "backend/native/kv_cache.h"

#include <gmock/gmock.h>

#include "backend/native/device/cpu_device.h"
#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"
#include "backend/native/sequences_fixture.h"

namespace owml::test {
namespace {

using native::Continuation;
using native::ForwardSettings;
using native::LogitRows;
using native::Sequences;
using testing::HasSubstr;

constexpr uint32_t kWindow = 20;
constexpr uint32_t kBatch = 64;
constexpr uint64_t kCapacity = 4096;
// A segment of 512 positions has room for window and batch.
constexpr uint64_t kDepth = 512 - kWindow + 1;

constexpr ForwardSettings kRing = {.capacity = kCapacity, .batch_size = kBatch, .threads = 1};
// With batches of the whole capacity nothing can be forgotten.
constexpr ForwardSettings kWhole = {.capacity = kCapacity, .batch_size = kCapacity, .threads = 1};

struct WindowedModel {
  RandomModel model;
  uint32_t windowed_layers = 0;
};

std::vector<WindowedModel> WindowedModels() {
  std::vector<WindowedModel> models;
  for (const RandomModel& model : RandomModels()) {
    if (model.name == "gemma2") models.push_back({model, 2});
    if (model.name == "gemma3") models.push_back({model, 6});
    if (model.name != "phi3") continue;
    models.push_back({model, 3});
    models.back().model.keys = [](GgufWriter& file, const std::string& prefix) {
      file.Add(prefix + "attention.sliding_window", kWindow);
    };
  }
  return models;
}

class RingTest : public testing::TestWithParam<WindowedModel> {
 protected:
  void SetUp() override { weights_ = LoadWeights(path()); }

  std::filesystem::path path() const { return folder_.Write("m.gguf", RandomModelFile(GetParam().model).Bytes()); }
  // One sequence in slot 0.
  std::unique_ptr<Sequences> Make(const ForwardSettings& settings) const {
    auto sequences = MakeSequences(weights_, settings);
    sequences->Add();
    return sequences;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const native::ModelWeights> weights_;
};

TEST_P(RingTest, WindowedLayersKeepWindowAndBatchInWholeSegments) {
  const RandomModel& model = GetParam().model;
  const uint64_t position = 2 * model.kv_heads * model.head_width * sizeof(uint16_t);
  for (const uint64_t capacity : {uint64_t{4096}, uint64_t{1} << 20}) {
    for (const uint32_t slots : {1u, 3u}) {
      const ForwardSettings settings{.capacity = capacity, .batch_size = kBatch, .threads = 1, .slots = slots};
      const uint64_t windowed = GetParam().windowed_layers, whole = model.layers - windowed;
      EXPECT_EQ(MakeSequences(weights_, settings)->cache_bytes(),
                slots * position * (whole * capacity + windowed * 512));
    }
  }
}

TEST_P(RingTest, LogitsAreThoseOfACacheThatKeepsEverythingBitForBit) {
  const auto tokens = RandomTokens(1700, kTinyVocabulary);
  const auto expected = Append(*Make(kWhole), 0, tokens, LogitRows::kAll);
  for (const size_t chunk : {1, 50, 513, 1700}) {
    ForwardSettings settings = kRing;
    settings.threads = chunk == 1 ? 2 : 1;
    const auto sequences = Make(settings);
    for (size_t i = 0; i < tokens.size(); i += chunk) {
      const size_t count = std::min(chunk, tokens.size() - i);
      const auto logits = Append(*sequences, 0, std::span(tokens).subspan(i, count), LogitRows::kAll);
      ASSERT_TRUE(
          std::equal(logits.begin(), logits.end(), expected.begin() + static_cast<int64_t>(i * kTinyVocabulary)))
          << count << " tokens at " << i;
    }
  }
}

// Beside a cache that keeps everything, which can go back anywhere.
TEST_P(RingTest, AfterAnyAppendsAndRewindsLogitsAreExactOrTheRewindWasRefused) {
  const auto ring = Make(kRing), whole = Make(kWhole);
  std::mt19937 random(5);
  uint64_t highest = 0;
  int taken = 0, refused = 0;
  for (int round = 0; round < 90; ++round) {
    const auto tokens = RandomTokens(1 + random() % 90, kTinyVocabulary, static_cast<uint32_t>(round));
    ASSERT_EQ(Append(*ring, 0, tokens), Append(*whole, 0, tokens)) << "round " << round;
    const uint64_t position = ring->position(0);
    highest = std::max(highest, position);
    if (random() % 3 != 0) continue;
    const uint64_t target = position - std::min<uint64_t>(position, random() % (round % 2 == 0 ? 60 : 800));
    const Failure failure = FailureOf([&] { ring->RewindTo(0, target); });
    const bool kept = target == 0 || highest <= 512 || highest - target <= kDepth;
    ASSERT_EQ(failure.code, kept ? S_OK : E_INVALIDARG) << "from " << position << " to " << target;
    EXPECT_EQ(ring->position(0), kept ? target : position);
    whole->RewindTo(0, ring->position(0));
    if (target == 0) highest = 0;
    ++(kept ? taken : refused);
  }
  EXPECT_GT(taken, 5);
  EXPECT_GT(refused, 5);
}

TEST_P(RingTest, TheWayBackEndsAtTheDepthThatIsTold) {
  const auto sequences = Make(kRing);
  EXPECT_EQ(sequences->depth(), kDepth);
  EXPECT_EQ(Make(kWhole)->depth(), std::nullopt);
  const auto tokens = RandomTokens(1000, kTinyVocabulary);
  Append(*sequences, 0, tokens);
  const Failure failure = FailureOf([&] { sequences->RewindTo(0, 1000 - kDepth - 1); });
  EXPECT_EQ(failure.code, E_INVALIDARG);
  EXPECT_THAT(failure.sentence, HasSubstr("go back 493 tokens from position 1000, or to the start"));
  EXPECT_EQ(sequences->position(0), 1000u);
  sequences->RewindTo(0, 1000 - kDepth);
  sequences->RewindTo(0, 0);
  EXPECT_EQ(Append(*sequences, 0, tokens), Append(*Make(kWhole), 0, tokens));
}

TEST_P(RingTest, ACancelledStepLeavesTheSequenceAsBeforeOrEmpty) {
  struct Canceled : CancellationCheck {
    bool canceled() noexcept override { return --looks < 0; }
    int looks = 0;
  } check;
  const auto tokens = RandomTokens(1800, kTinyVocabulary);
  std::vector<float> logits(kTinyVocabulary);
  for (const auto& [count, position] : {std::pair<size_t, uint64_t>{400, 1000}, {800, 0}}) {
    const auto sequences = Make(kRing);
    Append(*sequences, 0, std::span(tokens).first(1000));
    const Continuation step{0, std::span(tokens).subspan(1000, count)};
    check.looks = static_cast<int>(count / kBatch * GetParam().model.layers);  // into the last batch
    EXPECT_EQ(FailureOf([&] {
                sequences->Step({&step, 1}, {logits}, &check);
              }).code,
              HRESULT_FROM_WIN32(ERROR_CANCELLED));
    ASSERT_EQ(sequences->position(0), position);
    const auto all = std::span(tokens).first(1000 + count);
    EXPECT_EQ(Append(*sequences, 0, all.subspan(position)), Append(*Make(kWhole), 0, all));
  }
}

TEST_P(RingTest, SessionsTellHowFarTheyGoBackAndRefuseMore) {
  const auto model = LoadNative(path());
  SessionOptions options;
  options.batch_size = 1;  // steps over several tokens are wider
  options.sequence_capacity_hint = kCapacity;
  const auto session = SessionOn(*model, options);
  const SpeculativeLimits limits = session->speculative_steps()->limits();
  EXPECT_EQ(limits.rollback_bound, 3);  // bounded
  EXPECT_EQ(limits.max_rollback_depth, kDepth);
  const auto tokens = RandomTokens(600, kTinyVocabulary);
  RunTokens(*session, tokens);
  EXPECT_EQ(FailureOf([&] { session->sequence_state()->RewindTo(50); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), 600u);
  std::vector<float> rows(limits.max_step_width * kTinyVocabulary);
  session->speculative_steps()->StepAllPositions(std::span(tokens).first(limits.max_step_width), rows);
  session->speculative_steps()->CommitAcceptedPrefix(0);
  const auto plain = SessionOn(*model, options);
  RunTokens(*plain, tokens);
  EXPECT_EQ(RunTokens(*session, {5}), RunTokens(*plain, {5}));

  options.sequence_capacity_hint = 500;                                                    // no more than a ring
  EXPECT_EQ(SessionOn(*model, options)->speculative_steps()->limits().rollback_bound, 2);  // unbounded
}

TEST_P(RingTest, ACancelledPromptLeavesASessionAsBeforeOrEmpty) {
  struct Canceled : CancellationCheck {
    bool canceled() noexcept override { return --looks < 0; }
    int looks = 0;
  };
  const auto check = std::make_shared<Canceled>();
  const auto model = LoadNative(path());
  SessionOptions options;
  options.batch_size = kBatch;
  options.sequence_capacity_hint = kCapacity;
  const auto tokens = RandomTokens(2000, kTinyVocabulary);
  const std::vector<int32_t> first(tokens.begin(), tokens.begin() + 700), rest(tokens.begin() + 700, tokens.end());
  for (const auto& [batches, position] : {std::pair<int, uint64_t>{3, 700}, {18, 0}}) {
    const auto session = SessionOn(*model, options);
    RunTokens(*session, first);
    session->cancellable_runs()->Watch(check);
    check->looks = batches * static_cast<int>(GetParam().model.layers);
    EXPECT_EQ(FailureOf([&] { RunTokens(*session, rest); }).code, HRESULT_FROM_WIN32(ERROR_CANCELLED));
    session->cancellable_runs()->Watch(nullptr);
    ASSERT_EQ(session->sequence_state()->position(), position);
    const std::vector<int32_t> all = position == 0 ? tokens : rest;
    EXPECT_EQ(RunTokens(*session, all), RunTokens(*SessionOn(*model, options), tokens));
  }
}

std::string WindowedName(const testing::TestParamInfo<WindowedModel>& info) { return info.param.model.name; }
INSTANTIATE_TEST_SUITE_P(Model, RingTest, testing::ValuesIn(WindowedModels()), WindowedName);

TEST(KvCacheTest, MoreThanCanBeCountedIsRefused) {
  native::KvCacheShape shape{.slots = 256, .kv_heads = 1024, .head_width = 1024, .capacity = uint64_t{1} << 60};
  shape.windows.assign(100, 0);
  EXPECT_EQ(FailureOf([&] {
              native::CpuDevice device(1, kernels::KernelsFor(kernels::Isa::kScalar));
              native::KvCache cache(shape, &device);
            }).code,
            E_OUTOFMEMORY);
}

}  // namespace
}  // namespace owml::test
