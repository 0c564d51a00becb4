// What sessions of the native engine have of their own; what they share with other engines is in tests/backend/gguf.
#include "backend/native/native_session.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "backend/native/native_fixture.h"

namespace owml::test {
namespace {

// A run of `tokens` that gives the highest logits.
void RunForBest(BackendSession& session, std::vector<int32_t> tokens, std::span<TokenLogit> best) {
  const InputValue input{true, TokenView(tokens)};
  session.best_tokens()->RunForBest({&input, 1}, best);
}

class NativeSessionTest : public testing::Test {
 protected:
  void SetUp() override { model_ = LoadNative(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }
  std::unique_ptr<BackendSession> Session(const SessionOptions& options = {}) const {
    return SessionOn(*model_, options);
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BackendModel> model_;
};

TEST_F(NativeSessionTest, ReportNamesEngineInstructionSetAndThreads) {
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    const ForcedIsa forced(isa);
    const SessionReport report = Session()->report();
    EXPECT_EQ(report.engine, "OpenWinML native (" + std::string(kernels::Name(isa)) + ")");
    EXPECT_FALSE(report.engine_reason.empty());
    EXPECT_EQ(report.engine_kind, Engine::kNative);
    EXPECT_EQ(report.device, DeviceKind::kCpu);
    EXPECT_EQ(report.kv_cache_type, KvCacheType::kF16);
    EXPECT_EQ(report.intra_op_threads, 1u);
  }
}

// Rows of the embedding stay in the file.
TEST_F(NativeSessionTest, AFileThatIsCutWhileItIsUsedIsAnErrorAndLeavesTheSequence) {
  const std::filesystem::path path = folder_.Write("cut.gguf", TinyLlama().Bytes());
  const auto model = LoadNative(path);
  const auto session = SessionOn(*model, {});
  RunTokens(*session, {1, 75});
  std::filesystem::resize_file(path, 512);
  std::vector<int32_t> all(100);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  const auto failure = FailureOf([&] { RunTokens(*session, all); });
  EXPECT_EQ(failure.code, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_NE(failure.sentence.find("cut.gguf' was cut short while it was in use"), std::string::npos)
      << failure.sentence;
  EXPECT_EQ(session->sequence_state()->position(), 2u);
}

TEST_F(NativeSessionTest, TheBestTokensOfARunAreThoseOfItsLogits) {
  const auto whole = Session(), session = Session();
  ASSERT_NE(session->best_tokens(), nullptr);
  EXPECT_EQ(session->best_tokens()->max_best_tokens(), 64u);
  std::vector<int32_t> fed = {1, 75, 104, 111};
  for (int i = 0; i < 10; ++i) {
    const auto logits = RunTokens(*whole, fed);
    std::vector<TokenLogit> best(i % 2 ? 1 : 64);
    RunForBest(*session, fed, best);
    EXPECT_EQ(best[0].token, Best(logits));
    for (const TokenLogit& entry : best) EXPECT_EQ(entry.logit, logits[static_cast<size_t>(entry.token)]);
    EXPECT_TRUE(std::ranges::is_sorted(best, std::greater(), &TokenLogit::logit));
    EXPECT_EQ(session->sequence_state()->position(), whole->sequence_state()->position());
    fed = {best[0].token};
  }
}

TEST_F(NativeSessionTest, ARefusedRunForTheBestTokensLeavesTheSequence) {
  const auto session = Session();
  const std::vector<int32_t> tokens = {1, 75}, outside = {1, 259};
  std::vector<TokenLogit> best(65);
  const auto code = [&](const std::vector<int32_t>& fed, size_t count) {
    return FailureOf([&] { RunForBest(*session, fed, std::span(best).first(count)); }).code;
  };
  EXPECT_EQ(code(tokens, 0), E_INVALIDARG);
  EXPECT_EQ(code(tokens, 65), E_INVALIDARG);
  EXPECT_EQ(code(outside, 1), E_INVALIDARG);
  EXPECT_EQ(code({}, 1), E_INVALIDARG);
  EXPECT_EQ(code(std::vector<int32_t>(257, 1), 1), HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  const InputValue unbound;
  EXPECT_EQ(FailureOf([&] {
              session->best_tokens()->RunForBest({&unbound, 1}, std::span(best).first(1));
            }).code,
            E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
}

// Biases that swallow everything else.
TEST_F(NativeSessionTest, AmongEqualLogitsTheLowestTokenIsTheBest) {
  GgufWriter file = TinyLlama();
  std::vector<float> biases(kTinyVocabulary, 0);
  for (const size_t token : {200, 7, 78}) biases[token] = 1e9f;
  file.FloatTensor("output.bias", {kTinyVocabulary}, biases);
  const auto model = LoadNative(folder_.Write("biased.gguf", file.Bytes()));
  SessionOptions options;
  options.intra_op_threads = 2;
  std::vector<TokenLogit> best(3);
  RunForBest(*model->CreateSession(options), {1, 75}, best);
  EXPECT_EQ(best[0].token, 7);
  EXPECT_EQ(best[1].token, 78);
  EXPECT_EQ(best[2].token, 200);
}

}  // namespace
}  // namespace owml::test
