// Sessions on a tiny random model: what a run appends and answers, and what a refusal leaves behind.
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

TEST_F(LlamaSessionTest, SchemaIsInt32TokensToFloatLogitsOfTheLastPosition) {
  const auto session = Session();
  ASSERT_EQ(session->schema().inputs.size(), 1u);
  ASSERT_EQ(session->schema().outputs.size(), 1u);
  EXPECT_EQ(session->schema().inputs[0].dtype, DType::kInt32);
  EXPECT_EQ(session->schema().inputs[0].dims, (Dims{1, kFreeDimension}));
  EXPECT_EQ(session->schema().outputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(session->schema().outputs[0].dims, (Dims{1, 1, kTinyVocabulary}));
  EXPECT_EQ(model_->declared_schema(), nullptr);
}

TEST_F(LlamaSessionTest, ConsecutiveRunsAppend) {
  const auto whole = Session();
  const auto parts = Session();
  const auto expected = RunTokens(*whole, kPrompt);
  RunTokens(*parts, {kPrompt.begin(), kPrompt.begin() + 5});
  EXPECT_EQ(parts->sequence_state()->position(), 5u);
  ExpectClose(RunTokens(*parts, {kPrompt.begin() + 5, kPrompt.end()}), expected, 1e-3f);
  EXPECT_EQ(parts->sequence_state()->position(), kPrompt.size());
}

TEST_F(LlamaSessionTest, APromptLongerThanTheBatchIsFedInPieces) {
  SessionOptions options;
  options.batch_size = 5;
  const auto session = Session(options);
  EXPECT_EQ(session->report().batch_size, 5u);
  ExpectClose(RunTokens(*session, kPrompt), RunTokens(*Session(), kPrompt), 1e-3f);
}

TEST_F(LlamaSessionTest, LogitsGoIntoTheCallersMemory) {
  std::vector<float> logits(kTinyVocabulary, -1e9f);
  std::vector<int32_t> tokens = kPrompt;
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  output.destination = TensorView{DType::kFloat32,
                                  {1, 1, kTinyVocabulary},
                                  reinterpret_cast<std::byte*>(logits.data()),
                                  logits.size() * sizeof(float)};
  Session()->Run({&input, 1}, {&output, 1});
  EXPECT_EQ(output.produced.view.data, nullptr);
  ExpectClose(logits, RunTokens(*Session(), kPrompt), 1e-6f);
}

TEST_F(LlamaSessionTest, ALaterRunDoesNotTouchLogitsThatSomebodyHolds) {
  const auto session = Session();
  std::vector<int32_t> tokens = kPrompt;
  const InputValue input{true, TokenView(tokens)};
  OutputValue first;
  first.wanted = true;
  session->Run({&input, 1}, {&first, 1});
  const auto* data = reinterpret_cast<const float*>(first.produced.view.data);
  const std::vector<float> before(data, data + kTinyVocabulary);
  RunTokens(*session, {66});
  EXPECT_EQ(std::vector<float>(data, data + kTinyVocabulary), before);
}

TEST_F(LlamaSessionTest, AnUnwantedOutputIsNotMadeAndTheTokensStillCount) {
  const auto session = Session();
  std::vector<int32_t> tokens(kPrompt.begin(), kPrompt.end() - 1);
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  session->Run({&input, 1}, {&output, 1});
  EXPECT_EQ(output.produced.view.data, nullptr);
  EXPECT_EQ(session->sequence_state()->position(), tokens.size());
  ExpectClose(RunTokens(*session, {kPrompt.back()}), RunTokens(*Session(), kPrompt), 1e-3f);
}

TEST_F(LlamaSessionTest, AnIdOutsideTheVocabularyIsRefusedAndNamed) {
  const auto session = Session();
  RunTokens(*session, {1, 2});
  for (const int32_t id : {int32_t{kTinyVocabulary}, -1, INT32_MAX, INT32_MIN}) {
    const Failure failure = FailureOf([&] { RunTokens(*session, {65, id}); });
    EXPECT_EQ(failure.code, E_INVALIDARG);
    EXPECT_THAT(failure.sentence, HasSubstr("token id " + std::to_string(id)));
    EXPECT_THAT(failure.sentence, HasSubstr("259"));
  }
  EXPECT_EQ(session->sequence_state()->position(), 2u);
}

TEST_F(LlamaSessionTest, InputsOfAnotherTypeOrShapeAreRefused) {
  const auto session = Session();
  std::vector<int32_t> tokens = {1, 2, 3, 4};
  const TensorView good = TokenView(tokens);
  std::vector<TensorView> bad(5, good);
  bad[0].dtype = DType::kInt64;
  bad[0].dims = {1, 2};
  bad[1].dtype = DType::kFloat32;
  bad[2].dims = {4};
  bad[3].dims = {2, 2};
  bad[4].dims = {1, 0};
  bad[4].bytes = 0;
  for (const TensorView& view : bad) {
    const InputValue input{true, view};
    OutputValue output;
    output.wanted = true;
    EXPECT_EQ(FailureOf([&] {
                session->Run({&input, 1}, {&output, 1});
              }).code,
              E_INVALIDARG)
        << ToString(view.dtype, view.dims);
  }
  const InputValue unbound;
  OutputValue output;
  EXPECT_EQ(FailureOf([&] { session->Run({&unbound, 1}, {&output, 1}); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
}

TEST_F(LlamaSessionTest, ADestinationOfAnotherTypeOrShapeIsRefused) {
  const auto session = Session();
  std::vector<float> logits(kTinyVocabulary);
  std::vector<int32_t> tokens = {1};
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  output.destination = TensorView{DType::kFloat32,
                                  {1, kTinyVocabulary},
                                  reinterpret_cast<std::byte*>(logits.data()),
                                  logits.size() * sizeof(float)};
  EXPECT_EQ(FailureOf([&] { session->Run({&input, 1}, {&output, 1}); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
}

TEST_F(LlamaSessionTest, ResetGivesTheFirstAnswerAgain) {
  const auto session = Session();
  const auto first = RunTokens(*session, kPrompt);
  RunTokens(*session, {66, 67});
  session->Reset();
  EXPECT_EQ(session->sequence_state()->position(), 0u);
  ExpectClose(RunTokens(*session, kPrompt), first, 1e-5f);
}

TEST_F(LlamaSessionTest, RewindingForgetsWhatCameAfter) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  RunTokens(*session, {66, 67, 68});
  session->sequence_state()->RewindTo(kPrompt.size() - 2);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() - 2);
  ExpectClose(RunTokens(*session, {kPrompt.end() - 2, kPrompt.end()}), expected, 1e-3f);
}

TEST_F(LlamaSessionTest, RewindingToTheCurrentPositionOrToTheStartIsAllowed) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  session->sequence_state()->RewindTo(kPrompt.size());
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  session->sequence_state()->RewindTo(0);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
  ExpectClose(RunTokens(*session, kPrompt), expected, 1e-5f);
}

TEST_F(LlamaSessionTest, RewindingForwardIsRefusedAndThePositionStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t position : {kPrompt.size() + 1, size_t{SIZE_MAX}}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->RewindTo(position); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_F(LlamaSessionTest, TheCapacityAskedForIsTheCapacityKept) {
  SessionOptions options;
  options.sequence_capacity_hint = 10;  // llama.cpp itself rounds up to 256
  const auto session = Session(options);
  SequenceState& state = *session->sequence_state();
  EXPECT_EQ(state.capacity(), 10u);
  RunTokens(*session, {1, 2, 3, 4, 5, 6, 7, 8});
  const Failure failure = FailureOf([&] { RunTokens(*session, {9, 10, 11}); });
  EXPECT_EQ(failure.code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_THAT(failure.sentence, HasSubstr("3 tokens at position 8"));
  EXPECT_THAT(failure.sentence, HasSubstr("capacity of 10"));
  EXPECT_EQ(state.position(), 8u);
  RunTokens(*session, {9, 10});
  EXPECT_EQ(state.position(), 10u);
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {11}); }).code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

TEST_F(LlamaSessionTest, ARefusedRunLeavesTheSequenceUsable) {
  SessionOptions options;
  options.sequence_capacity_hint = kPrompt.size();
  const auto session = Session(options);
  RunTokens(*session, {kPrompt.begin(), kPrompt.begin() + 4});
  EXPECT_NE(FailureOf([&] { RunTokens(*session, kPrompt); }).code, S_OK);
  ExpectClose(RunTokens(*session, {kPrompt.begin() + 4, kPrompt.end()}), RunTokens(*Session(), kPrompt), 1e-3f);
}

TEST_F(LlamaSessionTest, CapacityDefaultsToWhatTheArtifactDeclares) {
  const auto session = Session();
  EXPECT_EQ(session->sequence_state()->capacity(), 256u);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), 256u);
}

TEST_F(LlamaSessionTest, CapacityDefaultsToAtMost8192) {
  TinyLlamaShape shape;
  shape.context = 100000;
  const auto model = LoadGguf(folder_.Write("long.gguf", TinyLlama(shape).Bytes()));
  const auto session = SessionOn(*model);
  EXPECT_EQ(session->sequence_state()->capacity(), 8192u);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), 100000u);
}

TEST_F(LlamaSessionTest, CapacityAboveTheDeclaredWindowIsAllowed) {
  SessionOptions options;
  options.sequence_capacity_hint = 1000;
  const auto session = Session(options);
  EXPECT_EQ(session->sequence_state()->capacity(), 1000u);
  RunTokens(*session, std::vector<int32_t>(1000, 65));
  EXPECT_EQ(session->sequence_state()->position(), 1000u);
}

TEST_F(LlamaSessionTest, ChangingTheCapacityAfterARunResetsTheSequence) {
  const auto session = Session();
  SequenceState& state = *session->sequence_state();
  const auto expected = RunTokens(*session, kPrompt);
  state.SetCapacity(kPrompt.size());
  EXPECT_EQ(state.position(), 0u);
  EXPECT_EQ(state.capacity(), kPrompt.size());
  ExpectClose(RunTokens(*session, kPrompt), expected, 1e-5f);
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {1}); }).code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

TEST_F(LlamaSessionTest, AnImpossibleCapacityIsRefusedAndTheSequenceStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{1} << 31, UINT64_MAX}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->SetCapacity(capacity); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  EXPECT_EQ(session->sequence_state()->capacity(), 256u);
}

TEST_F(LlamaSessionTest, SessionsOfOneModelDoNotShareTheirSequence) {
  const auto a = Session();
  const auto b = Session();
  RunTokens(*a, kPrompt);
  EXPECT_EQ(b->sequence_state()->position(), 0u);
  RunTokens(*b, {1});
  ExpectClose(
      RunTokens(*a, {66}),
      [&] {
        const auto c = Session();
        RunTokens(*c, kPrompt);
        return RunTokens(*c, {66});
      }(),
      1e-4f);
}

TEST_F(LlamaSessionTest, ASessionOutlivesItsModel) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  session->Reset();
  model_.reset();
  ExpectClose(RunTokens(*session, kPrompt), expected, 1e-5f);
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

}  // namespace
}  // namespace owml::test
