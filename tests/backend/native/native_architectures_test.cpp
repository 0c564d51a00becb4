// Every architecture beside llama.cpp, on models with random float weights.
#include <gmock/gmock.h>

#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"

namespace owml::test {
namespace {

class NativeArchitecturesTest : public testing::TestWithParam<RandomModel> {
 protected:
  void SetUp() override { path_ = folder_.Write("random.gguf", RandomModelFile(GetParam()).Bytes()); }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

TEST_P(NativeArchitecturesTest, GreedyTokensAreThoseOfLlamaCpp) {
  const auto ours = SessionOn(*LoadNative(path_));
  const auto theirs = SessionOn(*LoadGguf(path_));
  std::vector<int32_t> fed = {1, 75, 104, 111};
  for (int i = 0; i < 64; ++i) {
    const auto a = RunTokens(*ours, fed), b = RunTokens(*theirs, fed);
    fed = {Best(b)};
    // Two candidates this close are a matter of rounding.
    ASSERT_LT(b[static_cast<size_t>(fed[0])] - b[static_cast<size_t>(Best(a))], 1e-4f) << "token " << i;
  }
}

TEST_P(NativeArchitecturesTest, LogitsAreThoseOfLlamaCpp) {
  const auto ours = LoadNative(path_), theirs = LoadGguf(path_);
  for (const size_t length : {1, 19, 21, 100}) {
    const auto tokens = RandomTokens(length, kTinyVocabulary, static_cast<uint32_t>(length));
    const auto difference = Compare(RunTokens(*SessionOn(*ours), tokens), RunTokens(*SessionOn(*theirs), tokens));
    EXPECT_GT(difference.cosine, 0.9999) << length;
  }
}

TEST_P(NativeArchitecturesTest, PromptsOfAnyDivisionGiveTheSameBits) {
  const auto model = LoadNative(path_);
  const auto tokens = RandomTokens(150, kTinyVocabulary);
  const auto expected = RunTokens(*SessionOn(*model), tokens);
  for (const size_t chunk : {1, 7, 64}) {
    ASSERT_EQ(RunInChunks(*SessionOn(*model), tokens, chunk), expected) << "chunks of " << chunk;
  }
}

TEST_P(NativeArchitecturesTest, RowsOfAStepEqualSingleStepsBitForBit) {
  const auto model = LoadNative(path_);
  const auto single = SessionOn(*model), session = SessionOn(*model);
  const std::vector<int32_t> tokens = {5, 66, 7, 120};
  std::vector<float> rows(tokens.size() * kTinyVocabulary);
  session->speculative_steps()->StepAllPositions(tokens, rows);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto row = std::span(rows).subspan(i * kTinyVocabulary, kTinyVocabulary);
    EXPECT_EQ(std::vector<float>(row.begin(), row.end()), RunTokens(*single, {tokens[i]}));
  }
}

INSTANTIATE_TEST_SUITE_P(Model, NativeArchitecturesTest, testing::ValuesIn(RandomModels()), ModelName);

}  // namespace
}  // namespace owml::test
