// What sessions of llama.cpp have of their own: its batches, cache types and report. What they share with other engines
// is in tests/backend/gguf.
#include "backend/llama/llama_session.h"

#include <gmock/gmock.h>
#include <llama.h>

#include "backend/llama/llama_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

const std::vector<int32_t> kPrompt = {1, 75, 104, 111, 111, 114, 35, 90, 114, 117, 111, 103};

class LlamaSessionTest : public TinyLlamaTest {};

// The same model through llama.cpp alone, one token at a time.
std::vector<int32_t> RawGreedy(const std::filesystem::path& path, const std::vector<int32_t>& prompt, size_t count) {
  llama_model* model = llama_model_load_from_file(path.c_str(), llama_model_default_params());
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 256;
  params.n_threads = params.n_threads_batch = 1;
  llama_context* context = llama_init_from_model(model, params);
  const int32_t vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  std::vector<int32_t> fed = prompt, answer;
  while (answer.size() < count) {
    EXPECT_EQ(llama_decode(context, llama_batch_get_one(fed.data(), static_cast<int32_t>(fed.size()))), 0);
    answer.push_back(Best({llama_get_logits_ith(context, -1), static_cast<size_t>(vocabulary)}));
    fed = {answer.back()};
  }
  llama_free(context);
  llama_model_free(model);
  return answer;
}

TEST_F(LlamaSessionTest, GreedyDecodingEqualsARawLlamaLoop) {
  const auto session = Session();
  std::vector<int32_t> answer, fed = kPrompt;
  while (answer.size() < 40) {
    answer.push_back(Best(RunTokens(*session, fed)));
    fed = {answer.back()};
  }
  EXPECT_EQ(answer, RawGreedy(folder_.path() / "tiny.gguf", kPrompt, 40));
}

TEST_F(LlamaSessionTest, APromptLongerThanTheBatchIsFedInPieces) {
  SessionOptions options;
  options.batch_size = 5;
  const auto session = Session(options);
  EXPECT_EQ(session->report().batch_size, 5u);
  ExpectClose(RunTokens(*session, kPrompt), RunTokens(*Session(), kPrompt), 1e-3f);
}

TEST_F(LlamaSessionTest, AStepWiderThanTheBatchIsFedInPieces) {
  SessionOptions options;
  options.draft_token_limit = 12;
  options.batch_size = 2;
  const auto session = Session(options);
  const auto single = Session();
  std::vector<float> rows(kPrompt.size() * kTinyVocabulary);
  session->speculative_steps()->StepAllPositions(kPrompt, rows);
  for (size_t i = 0; i < kPrompt.size(); ++i) {
    ExpectClose(std::span(rows).subspan(i * kTinyVocabulary, kTinyVocabulary), RunTokens(*single, {kPrompt[i]}), 1e-3f);
  }
}

TEST_F(LlamaSessionTest, EveryCacheTypeThatIsOfferedRuns) {
  const auto expected = RunTokens(*Session(), kPrompt);
  for (const KvCacheType type : {KvCacheType::kF16, KvCacheType::kBF16, KvCacheType::kF32}) {
    SessionOptions options;
    options.kv_cache_type = type;
    const auto session = Session(options);
    EXPECT_EQ(session->report().kv_cache_type, type);
    ExpectClose(RunTokens(*session, kPrompt), expected, 0.1f);
  }
}

TEST_F(LlamaSessionTest, ACacheTypeThatDoesNotFitTheModelIsRefusedWithTheReason) {
  SessionOptions options;
  options.kv_cache_type = KvCacheType::kQ8_0;  // blocks of 32, and heads of 8
  const Failure failure = FailureOf([&] { Session(options); });
  EXPECT_EQ(failure.code, E_INVALIDARG);
  EXPECT_THAT(failure.sentence, HasSubstr("q8_0"));
}

TEST_F(LlamaSessionTest, AnEightBitCacheRunsWhereTheHeadsFit) {
  TinyLlamaShape shape;
  shape.width = 128;
  const auto model = LoadGguf(folder_.Write("wide.gguf", TinyLlama(shape).Bytes()));
  SessionOptions options;
  options.kv_cache_type = KvCacheType::kQ8_0;
  ExpectClose(RunTokens(*SessionOn(*model, options), kPrompt), RunTokens(*SessionOn(*model), kPrompt), 0.5f);
}

TEST_F(LlamaSessionTest, ReportNamesEngineDeviceAndThreads) {
  SessionOptions options;
  options.intra_op_threads = 2;
  const SessionReport report = Session(options)->report();
  EXPECT_THAT(report.engine, HasSubstr("llama.cpp"));
  EXPECT_FALSE(report.engine_reason.empty());
  EXPECT_EQ(report.engine_kind, Engine::kLlama);
  EXPECT_EQ(report.device, DeviceKind::kCpu);
  EXPECT_EQ(report.intra_op_threads, 2u);
}

TEST_F(LlamaSessionTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  SessionOptions one, three;
  one.intra_op_threads = 1;
  three.intra_op_threads = 3;
  ExpectClose(RunTokens(*Session(three), kPrompt), RunTokens(*Session(one), kPrompt), 1e-4f);
}

// llama.cpp keeps the weights in the file, which it maps itself.
TEST_F(TinyLlamaTest, AFileThatIsCutWhileItIsUsedIsAnErrorAndNoCrash) {
  const std::filesystem::path path = folder_.Write("cut.gguf", TinyLlama().Bytes());
  const auto model = LoadGguf(path);
  const auto session = SessionOn(*model);
  RunTokens(*session, {1, 75});
  std::filesystem::resize_file(path, 512);
  const auto failure = FailureOf([&] { RunTokens(*session, {104, 111}); });
  EXPECT_EQ(failure.code, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_NE(failure.sentence.find("cut.gguf' was cut short while it was in use"), std::string::npos)
      << failure.sentence;
}

}  // namespace
}  // namespace owml::test
