// Sessions on a tiny random model: what a run appends and answers, and what a refusal leaves behind.
// Every engine that runs GGUF models must answer so; each is one parameter.
#include <gmock/gmock.h>

#include "backend/gguf/gguf_session_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

TEST_P(GgufSessionTest, SchemaIsInt32TokensToFloatLogitsOfTheLastPosition) {
  const auto session = Session();
  ASSERT_EQ(session->schema().inputs.size(), 1u);
  ASSERT_EQ(session->schema().outputs.size(), 1u);
  EXPECT_EQ(session->schema().inputs[0].dtype, DType::kInt32);
  EXPECT_EQ(session->schema().inputs[0].dims, (Dims{1, kFreeDimension}));
  EXPECT_EQ(session->schema().outputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(session->schema().outputs[0].dims, (Dims{1, 1, kTinyVocabulary}));
  EXPECT_EQ(model_->declared_schema(), nullptr);
}

TEST_P(GgufSessionTest, ConsecutiveRunsAppend) {
  const auto whole = Session();
  const auto parts = Session();
  const auto expected = RunTokens(*whole, kPrompt);
  RunTokens(*parts, {kPrompt.begin(), kPrompt.begin() + 5});
  EXPECT_EQ(parts->sequence_state()->position(), 5u);
  ExpectSame(RunTokens(*parts, {kPrompt.begin() + 5, kPrompt.end()}), expected);
  EXPECT_EQ(parts->sequence_state()->position(), kPrompt.size());
}

TEST_P(GgufSessionTest, LogitsGoIntoTheCallersMemory) {
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
  ExpectSame(logits, RunTokens(*Session(), kPrompt));
}

TEST_P(GgufSessionTest, ALaterRunDoesNotTouchLogitsThatSomebodyHolds) {
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

TEST_P(GgufSessionTest, AnUnwantedOutputIsNotMadeAndTheTokensStillCount) {
  const auto session = Session();
  std::vector<int32_t> tokens(kPrompt.begin(), kPrompt.end() - 1);
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  session->Run({&input, 1}, {&output, 1});
  EXPECT_EQ(output.produced.view.data, nullptr);
  EXPECT_EQ(session->sequence_state()->position(), tokens.size());
  ExpectSame(RunTokens(*session, {kPrompt.back()}), RunTokens(*Session(), kPrompt));
}

TEST_P(GgufSessionTest, AnIdOutsideTheVocabularyIsRefusedAndNamed) {
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

TEST_P(GgufSessionTest, InputsOfAnotherTypeOrShapeAreRefused) {
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

TEST_P(GgufSessionTest, ADestinationOfAnotherTypeOrShapeIsRefused) {
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

TEST_P(GgufSessionTest, ResetGivesTheFirstAnswerAgain) {
  const auto session = Session();
  const auto first = RunTokens(*session, kPrompt);
  RunTokens(*session, {66, 67});
  session->Reset();
  EXPECT_EQ(session->sequence_state()->position(), 0u);
  ExpectSame(RunTokens(*session, kPrompt), first);
}

TEST_P(GgufSessionTest, RewindingForgetsWhatCameAfter) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  RunTokens(*session, {66, 67, 68});
  session->sequence_state()->RewindTo(kPrompt.size() - 2);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() - 2);
  ExpectSame(RunTokens(*session, {kPrompt.end() - 2, kPrompt.end()}), expected);
}

TEST_P(GgufSessionTest, RewindingToTheCurrentPositionOrToTheStartIsAllowed) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  session->sequence_state()->RewindTo(kPrompt.size());
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  session->sequence_state()->RewindTo(0);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
  ExpectSame(RunTokens(*session, kPrompt), expected);
}

TEST_P(GgufSessionTest, RewindingForwardIsRefusedAndThePositionStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t position : {kPrompt.size() + 1, size_t{SIZE_MAX}}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->RewindTo(position); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_P(GgufSessionTest, TheCapacityAskedForIsTheCapacityKept) {
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

TEST_P(GgufSessionTest, ARefusedRunLeavesTheSequenceUsable) {
  SessionOptions options;
  options.sequence_capacity_hint = kPrompt.size();
  const auto session = Session(options);
  RunTokens(*session, {kPrompt.begin(), kPrompt.begin() + 4});
  EXPECT_NE(FailureOf([&] { RunTokens(*session, kPrompt); }).code, S_OK);
  ExpectSame(RunTokens(*session, {kPrompt.begin() + 4, kPrompt.end()}), RunTokens(*Session(), kPrompt));
}

TEST_P(GgufSessionTest, CapacityDefaultsToWhatTheArtifactDeclares) {
  const auto session = Session();
  EXPECT_EQ(session->sequence_state()->capacity(), 256u);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), 256u);
}

TEST_P(GgufSessionTest, CapacityDefaultsToAtMost8192) {
  TinyLlamaShape shape;
  shape.context = 100000;
  const auto model = Load(folder_.Write("long.gguf", TinyLlama(shape).Bytes()));
  const auto session = SessionOn(*model);
  EXPECT_EQ(session->sequence_state()->capacity(), 8192u);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), 100000u);
}

TEST_P(GgufSessionTest, CapacityAboveTheDeclaredWindowIsAllowed) {
  SessionOptions options;
  options.sequence_capacity_hint = 1000;
  const auto session = Session(options);
  EXPECT_EQ(session->sequence_state()->capacity(), 1000u);
  RunTokens(*session, std::vector<int32_t>(1000, 65));
  EXPECT_EQ(session->sequence_state()->position(), 1000u);
}

TEST_P(GgufSessionTest, ChangingTheCapacityAfterARunResetsTheSequence) {
  const auto session = Session();
  SequenceState& state = *session->sequence_state();
  const auto expected = RunTokens(*session, kPrompt);
  state.SetCapacity(kPrompt.size());
  EXPECT_EQ(state.position(), 0u);
  EXPECT_EQ(state.capacity(), kPrompt.size());
  ExpectSame(RunTokens(*session, kPrompt), expected);
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {1}); }).code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

TEST_P(GgufSessionTest, AnImpossibleCapacityIsRefusedAndTheSequenceStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{1} << 31, UINT64_MAX}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->SetCapacity(capacity); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  EXPECT_EQ(session->sequence_state()->capacity(), 256u);
}

TEST_P(GgufSessionTest, SessionsOfOneModelDoNotShareTheirSequence) {
  const auto a = Session();
  const auto b = Session();
  RunTokens(*a, kPrompt);
  EXPECT_EQ(b->sequence_state()->position(), 0u);
  RunTokens(*b, {1});
  ExpectSame(RunTokens(*a, {66}), [&] {
    const auto c = Session();
    RunTokens(*c, kPrompt);
    return RunTokens(*c, {66});
  }());
}

TEST_P(GgufSessionTest, ASessionOutlivesItsModel) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  session->Reset();
  model_.reset();
  ExpectSame(RunTokens(*session, kPrompt), expected);
}

INSTANTIATE_TEST_SUITE_P(Engines, GgufSessionTest, testing::ValuesIn(kGgufEngines), EngineName);

}  // namespace
}  // namespace owml::test
