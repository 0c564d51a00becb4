// A real chat model through the backend.
#include <gmock/gmock.h>
#include <llama.h>

#include "backend/llama/llama_fixture.h"

namespace owml::test {
namespace {

class LlamaSmolLm2Test : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(OWML_MODEL_SMOLLM2).empty()) GTEST_SKIP() << "SmolLM2 was not fetched (tools/bootstrap)";
    model_ = LoadGguf(OWML_MODEL_SMOLLM2);
  }

  std::shared_ptr<const BackendModel> model_;
};

// "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
const std::vector<int32_t> kQuestion = {1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198};

TEST_F(LlamaSmolLm2Test, GreedyAnswerEqualsARawLlamaLoop) {
  constexpr size_t kCount = 16;
  const auto session = SessionOn(*model_);
  std::vector<int32_t> answer, fed = kQuestion;
  while (answer.size() < kCount) {
    answer.push_back(Best(RunTokens(*session, fed)));
    fed = {answer.back()};
  }

  llama_model* model = llama_model_load_from_file(OWML_MODEL_SMOLLM2, llama_model_default_params());
  ASSERT_TRUE(model);
  llama_context_params params = llama_context_default_params();
  params.n_threads = params.n_threads_batch = 1;
  llama_context* context = llama_init_from_model(model, params);
  std::vector<int32_t> expected;
  fed = kQuestion;
  while (expected.size() < kCount) {
    ASSERT_EQ(llama_decode(context, llama_batch_get_one(fed.data(), static_cast<int32_t>(fed.size()))), 0);
    expected.push_back(Best({llama_get_logits_ith(context, -1), 49152}));
    fed = {expected.back()};
  }
  llama_free(context);
  llama_model_free(model);
  EXPECT_EQ(answer, expected);
}

TEST_F(LlamaSmolLm2Test, DeclaredAndEffectiveCapacityAreThoseOfTheFile) {
  const auto session = SessionOn(*model_);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), 8192u);
  EXPECT_EQ(session->sequence_state()->capacity(), 8192u);
}

TEST_F(LlamaSmolLm2Test, SessionsShareTheWeights) {
  const auto a = SessionOn(*model_);
  const auto b = SessionOn(*model_);
  EXPECT_EQ(Best(RunTokens(*a, kQuestion)), Best(RunTokens(*b, kQuestion)));
}

}  // namespace
}  // namespace owml::test
