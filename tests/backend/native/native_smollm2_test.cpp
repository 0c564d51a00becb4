// A real chat model in the native engine, beside llama.cpp.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "backend/native/native_fixture.h"

namespace owml::test {
namespace {

class NativeSmolLm2Test : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(OWML_MODEL_SMOLLM2).empty()) GTEST_SKIP() << "SmolLM2 was not fetched (tools/bootstrap)";
    native_ = LoadNative(OWML_MODEL_SMOLLM2);
    llama_ = LoadGguf(OWML_MODEL_SMOLLM2);
  }

  std::shared_ptr<const BackendModel> native_;
  std::shared_ptr<const BackendModel> llama_;
};

// "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
const std::vector<int32_t> kQuestion = {1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198};

TEST_F(NativeSmolLm2Test, GreedyAnswerEqualsThatOfLlamaCpp) {
  const auto answer = [](BackendSession& session) {
    std::vector<int32_t> tokens, fed = kQuestion;
    while (tokens.size() < 16) {
      tokens.push_back(Best(RunTokens(session, fed)));
      fed = {tokens.back()};
    }
    return tokens;
  };
  EXPECT_EQ(answer(*SessionOn(*native_)), answer(*SessionOn(*llama_)));
}

// A short tale of a lighthouse keeper and his daughter.
const std::vector<int32_t> kProse = {
    504,   33059, 9318,  418,   260,   1112, 282,  253,  986,  5692,  19189, 30,    5081, 9053,  260,  40061,
    30324, 260,   24224, 28,    16681, 260,  4433, 28,   284,  1150,  260,   17559, 30,   44866, 1869, 578,
    418,   3426,  856,   965,   1042,  480,  970,  1130, 260,  7739,  30,    533,   4339, 260,   2251, 436,
    588,   1837,  338,   384,   761,   288,  2205, 260,  6358, 351,   1062,  3288,  30,   2736,  7388, 28,
    617,   436,   7462,  929,   1573,  28,   5454, 253,  1863, 281,   527,   1041,  4150, 1187,  260,  1462,
    282,   971,   5575,  28,    260,   5353, 357,  4180, 28,   284,   260,   7302,  282,  624,   7048, 30,
    1963,  3163,  665,   436,   253,   5670, 28,   284,  260,  17559, 3514,  578,   30,   2306,  7674, 288,
    260,   13095, 284,   43780, 357,   1793, 260,  5738, 2422, 28,    284,   787,   5575, 436,   3590, 30};

// The negative logarithm of the probability that `logits` give to `token`.
double Surprise(const std::vector<float>& logits, int32_t token) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  return std::log(sum) + highest - logits[static_cast<size_t>(token)];
}

double Perplexity(BackendSession& session) {
  double sum = 0;
  for (size_t i = 0; i + 1 < kProse.size(); ++i) sum += Surprise(RunTokens(session, {kProse[i]}), kProse[i + 1]);
  return std::exp(sum / static_cast<double>(kProse.size() - 1));
}

// Both engines round activations to eight bits, each in its own way. Against a float64 computation of the same weights
// the logits after this prompt have a cosine of 0.9998 here and 0.9994 in llama.cpp.
TEST_F(NativeSmolLm2Test, LogitsAreThoseOfLlamaCppUpToRounding) {
  const auto native = SessionOn(*native_);
  const auto llama = SessionOn(*llama_);
  for (const size_t length : {kQuestion.size(), size_t{5}, size_t{1}}) {
    const std::vector<int32_t> prompt(kQuestion.begin(), kQuestion.begin() + static_cast<std::ptrdiff_t>(length));
    native->Reset();
    llama->Reset();
    const auto ours = RunTokens(*native, prompt);
    const auto theirs = RunTokens(*llama, prompt);
    EXPECT_GT(Compare(ours, theirs).cosine, 0.998);
    EXPECT_EQ(Best(ours), Best(theirs));
  }
}

TEST_F(NativeSmolLm2Test, PerplexityIsThatOfLlamaCpp) {
  const double ours = Perplexity(*SessionOn(*native_));
  const double theirs = Perplexity(*SessionOn(*llama_));
  RecordProperty("perplexity", std::to_string(ours) + " here, " + std::to_string(theirs) + " in llama.cpp");
  EXPECT_NEAR(ours / theirs, 1, 1e-2);
}

TEST_F(NativeSmolLm2Test, PromptsOfAnyDivisionAndNumberOfThreadsGiveTheSameBits) {
  SessionOptions two;
  two.intra_op_threads = 2;
  const auto expected = RunTokens(*SessionOn(*native_), kProse);
  EXPECT_EQ(RunTokens(*SessionOn(*native_, two), kProse), expected);
  for (const size_t chunk : {7, 32}) EXPECT_EQ(RunInChunks(*SessionOn(*native_, two), kProse, chunk), expected);
}

}  // namespace
}  // namespace owml::test
