// The same tokens give the same bits however they are divided, and the values that llama.cpp computes up to rounding.
#include <gmock/gmock.h>

#include <algorithm>

#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"
#include "backend/native/sequences.h"
#include "base/error.h"

namespace owml::test {
namespace {

using native::Continuation;
using native::Sequences;

constexpr GgmlType kTypes[] = {GgmlType::kF32,  GgmlType::kF16,  GgmlType::kBF16, GgmlType::kQ8_0,   GgmlType::kQ4_0,
                               GgmlType::kQ4_1, GgmlType::kQ5_0, GgmlType::kQ5_1, GgmlType::kQ2_K,   GgmlType::kQ3_K,
                               GgmlType::kQ4_K, GgmlType::kQ5_K, GgmlType::kQ6_K, GgmlType::kIQ4_NL, GgmlType::kMXFP4};

class NativeExactnessTest : public testing::TestWithParam<GgmlType> {
 protected:
  void SetUp() override {
    path_ = folder_.Write("random.gguf", RandomLlama(GetParam()));
    model_ = LoadNative(path_);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  std::shared_ptr<const BackendModel> model_;
};

TEST_P(NativeExactnessTest, PromptsOfAnyDivisionGiveTheSameBits) {
  const auto tokens = RandomTokens(600, kTinyVocabulary);  // more than one segment of attention
  const auto expected = RunTokens(*SessionOn(*model_), tokens);
  for (const size_t chunk : {1, 7, 32, 512}) {
    ASSERT_EQ(RunInChunks(*SessionOn(*model_), tokens, chunk), expected) << "chunks of " << chunk;
  }
  for (const uint32_t batch : {1, 5, 64}) {
    SessionOptions options;
    options.batch_size = batch;
    options.sequence_capacity_hint = 600;
    ASSERT_EQ(RunTokens(*SessionOn(*model_, options), tokens), expected) << "batches of " << batch;
  }
}

TEST_P(NativeExactnessTest, AnyNumberOfThreadsGivesTheSameBits) {
  const auto weights = LoadWeights(path_);
  const auto tokens = RandomTokens(530, kTinyVocabulary);
  const auto logits = [&](uint32_t threads) {
    Sequences sequences(weights, {1024, 128, threads}, kernels::KernelsFor(kernels::ChosenIsa()));
    sequences.Add();
    std::vector<float> row(kTinyVocabulary);
    const int32_t next = 42;
    for (const std::span<const int32_t> part : {std::span<const int32_t>(tokens), std::span(&next, 1)}) {
      const Continuation step{0, part};
      sequences.Step({&step, 1}, {row});
    }
    return row;
  };
  const auto expected = logits(1);
  for (const uint32_t threads : {2, 3, 16}) ASSERT_EQ(logits(threads), expected) << threads << " threads";
}

TEST_P(NativeExactnessTest, EveryInstructionSetGivesTheSameBits) {
  const auto tokens = RandomTokens(40, kTinyVocabulary);
  std::vector<float> expected;
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    const ForcedIsa forced(isa);
    const auto logits = RunTokens(*SessionOn(*model_), tokens);
    if (expected.empty()) expected = logits;
    ASSERT_EQ(logits, expected) << kernels::Name(isa);
  }
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Both engines round activations to eight bits, or to BF16 for weights of that type, each in its own way; the same
// weights as floats tell who is how far off.
TEST_P(NativeExactnessTest, LogitsAreAtLeastAsCloseToThoseOfFloatWeightsAsThoseOfLlamaCpp) {
  const auto llama = LoadGguf(path_);
  const auto floats = LoadGguf(folder_.Write("floats.gguf", RandomLlama(GetParam(), /*dequantized=*/true)));
  std::vector<double> our_distances, their_distances;
  for (uint32_t seed = 0; seed < 15; ++seed) {
    const auto tokens = RandomTokens(20 + seed, kTinyVocabulary, seed);
    const auto expected = RunTokens(*SessionOn(*floats), tokens);
    our_distances.push_back(1 - Compare(RunTokens(*SessionOn(*model_), tokens), expected).cosine);
    their_distances.push_back(1 - Compare(RunTokens(*SessionOn(*llama), tokens), expected).cosine);
  }
  const double ours = Median(our_distances), theirs = Median(their_distances);
  RecordProperty("distance", std::to_string(ours) + " here, " + std::to_string(theirs) + " in llama.cpp");
  const bool exact = GetParam() == GgmlType::kF32 || GetParam() == GgmlType::kF16;
  EXPECT_LT(ours, exact ? 1e-5 : GetParam() == GgmlType::kBF16 ? 1e-4 : 5e-3);
  EXPECT_LT(ours, 1.25 * theirs + 1e-5);
}

std::string TypeName(const testing::TestParamInfo<GgmlType>& info) { return std::string(InfoOf(info.param).name); }
INSTANTIATE_TEST_SUITE_P(Type, NativeExactnessTest, testing::ValuesIn(kTypes), TypeName);

class NativeCacheTest : public testing::TestWithParam<KvCacheType> {
 protected:
  static SessionOptions Options(KvCacheType type, uint32_t batch = 0) {
    SessionOptions options;
    options.kv_cache_type = type;
    options.batch_size = batch;
    options.sequence_capacity_hint = 600;
    return options;
  }

  TemporaryFolder folder_;
};

TEST_P(NativeCacheTest, EveryTypeOfCacheGivesTheSameBitsForAnyDivisionAndTheValuesOfFloat16UpToRounding) {
  for (const RandomModel& model : RandomModels()) {
    if (model.name != "llama" && model.name != "gemma2") continue;
    const auto loaded = LoadNative(folder_.Write(model.name + ".gguf", RandomModelFile(model).Bytes()));
    const auto tokens = RandomTokens(560, kTinyVocabulary);
    const auto session = SessionOn(*loaded, Options(GetParam()));
    EXPECT_EQ(session->report().kv_cache_type, GetParam());
    const auto expected = RunTokens(*session, tokens);
    for (const size_t chunk : {1, 7, 64}) {
      ASSERT_EQ(RunInChunks(*SessionOn(*loaded, Options(GetParam(), 50)), tokens, chunk), expected) << chunk;
    }
    const auto halves = RunTokens(*SessionOn(*loaded, Options(KvCacheType::kF16)), tokens);
    EXPECT_GT(Compare(expected, halves).cosine, 0.999) << model.name;
  }
}

TEST_P(NativeCacheTest, GreedyTokensAreThoseOfLlamaCppWithTheSameCache) {
  const auto models = RandomModels();
  RandomModel model = models.front();
  model.head_width = 32;  // blocks of Q8_0
  model.width = 192;
  const auto path = folder_.Write("random.gguf", RandomModelFile(model).Bytes());
  const auto ours = SessionOn(*LoadNative(path), Options(GetParam()));
  const auto theirs = SessionOn(*LoadGguf(path), Options(GetParam()));
  std::vector<int32_t> fed = {1, 75, 104, 111};
  for (int i = 0; i < 40; ++i) {
    const auto a = RunTokens(*ours, fed), b = RunTokens(*theirs, fed);
    fed = {Best(b)};
    ASSERT_LT(b[static_cast<size_t>(fed[0])] - b[static_cast<size_t>(Best(a))], 0.05f) << "token " << i;
  }
}

std::string CacheName(const testing::TestParamInfo<KvCacheType>& info) {
  return info.param == KvCacheType::kF16 ? "f16" : info.param == KvCacheType::kBF16 ? "bf16" : "q8_0";
}
INSTANTIATE_TEST_SUITE_P(Type, NativeCacheTest,
                         testing::Values(KvCacheType::kF16, KvCacheType::kBF16, KvCacheType::kQ8_0), CacheName);

TEST(NativeGreedyTest, Float32ModelsGiveTheTokensOfLlamaCpp) {
  TemporaryFolder folder;
  for (const uint32_t seed : {1u, 2u, 3u}) {
    TinyLlamaShape shape;
    shape.seed = seed;
    const auto path = folder.Write("tiny" + std::to_string(seed) + ".gguf", TinyLlama(shape).Bytes());
    const auto ours = SessionOn(*LoadNative(path));
    const auto theirs = SessionOn(*LoadGguf(path));
    std::vector<int32_t> fed = {1, 75, 104, 111};
    for (int i = 0; i < 64; ++i) {
      const auto a = RunTokens(*ours, fed), b = RunTokens(*theirs, fed);
      fed = {Best(b)};
      // Two candidates this close are a matter of rounding.
      ASSERT_LT(b[static_cast<size_t>(fed[0])] - b[static_cast<size_t>(Best(a))], 1e-4f) << "token " << i;
    }
  }
}

}  // namespace
}  // namespace owml::test
