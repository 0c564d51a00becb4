// What comes out of a unified pipeline, why it ends, and what each option does.
#include <set>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class GenerationTest : public TextGenerationTest {};

TEST_F(GenerationTest, GivesTheTokensOfTheGreedyLoop) {
  Open();
  const Tokens prompt = {3, 1, 4};
  const Answer answer = Generate(prompt, 12);
  EXPECT_EQ(answer.tokens, Expected(prompt, 12));
  EXPECT_EQ(answer.text, LettersOf(answer.tokens));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
  EXPECT_EQ(answer.prompt_tokens, 3u);
  EXPECT_EQ(answer.error, S_OK);
}

TEST_F(GenerationTest, ThePromptGoesInAtOnceAndThenOneTokenARun) {
  Open();
  const Answer answer = Generate({3, 1, 4}, 3);
  EXPECT_THAT(model->runs, ElementsAre(Tokens{3, 1, 4}, Tokens{answer.tokens[0]}, Tokens{answer.tokens[1]}));
}

TEST_F(GenerationTest, ATextIsEncodedWithSpecialTokens) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(session->GenerateText(L"cad", Options(2).Get(), nullptr, stream.GetAddressOf()), S_OK);
  EXPECT_EQ(tokenizer->last_flags, WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS);
  const Answer answer = ReadAll(stream.Get());
  EXPECT_EQ(model->runs[0], (Tokens{3, 1, 4}));
  EXPECT_EQ(answer.prompt_tokens, 3u);
}

TEST_F(GenerationTest, AnEndTokenEndsAndIsNotShown) {
  model->logits_of = Saying({5, 6, kEnd}, 2);
  Open();
  const Answer answer = Generate({1, 2}, 10);
  EXPECT_THAT(answer.tokens, ElementsAre(5, 6));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
  EXPECT_EQ(answer.text, L"ef");
}

TEST_F(GenerationTest, AnEndTokenAtOnceGivesAnEmptyAnswer) {
  model->logits_of = Saying({kEnd}, 1);
  Open();
  const Answer answer = Generate({1}, 10);
  EXPECT_THAT(answer.tokens, SizeIs(0));
  EXPECT_EQ(answer.text, L"");
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
}

TEST_F(GenerationTest, AnExplicitEmptyListOfEndTokensLetsThemThrough) {
  model->logits_of = Saying({5, kEnd, 6}, 1);
  ASSERT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                              task.GetAddressOf()),
            S_OK);
  Open();
  EXPECT_THAT(Generate({1}, 3).tokens, ElementsAre(5, kEnd, 6));
}

TEST_F(GenerationTest, AStopTokenEndsAndIsNotShown) {
  model->logits_of = Saying({5, 6, 7}, 1);
  Open();
  const Answer answer = ReadAll(Start({1}, Options(Values(10), {9, 6}).Get()).Get());
  EXPECT_THAT(answer.tokens, ElementsAre(5));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
}

TEST_F(GenerationTest, ATokenThatEndsAndStopsCountsAsTheEnd) {
  model->logits_of = Saying({kEnd}, 1);
  Open();
  EXPECT_EQ(ReadAll(Start({1}, Options(Values(10), {kEnd}).Get()).Get()).reason,
            WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
}

TEST_F(GenerationTest, EndsWhenPromptAndAnswerReachTheCapacity) {
  model->capacity = 8;
  Open();
  const Tokens prompt = {1, 2, 3};
  const Answer answer = Generate(prompt, 50);
  EXPECT_EQ(answer.tokens, Expected(prompt, 5));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
}

TEST_F(GenerationTest, ALimitThatIsReachedTogetherWithTheCapacityWins) {
  model->capacity = 8;
  Open();
  EXPECT_EQ(Generate({1, 2, 3}, 5).reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
}

TEST_F(GenerationTest, APromptThatFillsTheCapacityLeavesNoRoomForATokenOfTheAnswer) {
  model->capacity = 4;
  Open();
  const Answer answer = Generate({1, 2, 3, 4}, 5);
  EXPECT_THAT(answer.tokens, SizeIs(0));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
}

TEST_F(GenerationTest, APromptBeyondTheCapacityIsRefusedWithBothNumbers) {
  model->capacity = 4;
  Open();
  Generate({1, 2}, 1);
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const Tokens prompt = {1, 2, 3, 4, 5};
  EXPECT_EQ(session->GenerateTokens(5, prompt.data(), nullptr, nullptr, stream.GetAddressOf()), kTooLong);
  EXPECT_THAT(openwinml::LastErrorMessage(), AllOf(HasSubstr("5 tokens"), HasSubstr("capacity of 4")));
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(Retained(), (Tokens{1, 2})) << "nothing has changed";
}

TEST_F(GenerationTest, TheLogicalCapacityLimitsBelowTheStage) {
  configuration = Unified();
  configuration->SetLogicalCapacity(5);
  task = NewTask(tokenizer.Get());
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
  const Answer answer = Generate({1, 2, 3}, 50);
  EXPECT_THAT(answer.tokens, SizeIs(2));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
}

TEST_F(GenerationTest, AStageWithoutALimitIsNotLimited) {
  model->capacity = 0;
  Open();
  EXPECT_THAT(Generate(Tokens(100, 1), 100).tokens, SizeIs(100));
}

TEST_F(GenerationTest, NullOptionsAreGreedyUpToTheEnd) {
  model->logits_of = Saying({5, 6, 7, kEnd}, 1);
  Open();
  const Answer answer = ReadAll(Start({1}).Get());
  EXPECT_THAT(answer.tokens, ElementsAre(5, 6, 7));
}

TEST_F(GenerationTest, ANewPromptStartsANewSequence) {
  Open();
  const Answer first = Generate({1, 2}, 4);
  Generate({9, 9, 9}, 3);
  const Answer again = Generate({1, 2}, 4);
  EXPECT_EQ(again.tokens, first.tokens);
  EXPECT_EQ(model->resets, 3);
}

TEST_F(GenerationTest, ASeedFixesTheAnswerAndAnotherGivesAnother) {
  model->logits_of = [](const Tokens&) { return std::vector<float>(kStrangerVocabulary, 0.0f); };
  Open();
  WINML_TEXT_GENERATION_OPTIONS values = Values(30);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_SEED |
                          WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K;
  values.temperature = 1;
  values.topK = 20;
  const auto sample = [&](UINT64 seed) {
    values.seed = seed;
    return ReadAll(Start({1}, Options(values, {}).Get()).Get()).tokens;
  };
  const Tokens once = sample(7);
  EXPECT_EQ(sample(7), once);
  EXPECT_NE(sample(8), once);
  EXPECT_NE(sample(0), sample(0)) << "0 is another seed each time";
}

TEST_F(GenerationTest, PenaltiesSeeThePromptAndTheAnswer) {
  // Token 2 is slightly ahead of all others, which are alike.
  model->logits_of = [](const Tokens&) {
    std::vector<float> logits(kStrangerVocabulary, 1.0f);
    logits[2] = 1.1f;
    return logits;
  };
  Open();
  EXPECT_THAT(Generate({2}, 3).tokens, Each(2));
  WINML_TEXT_GENERATION_OPTIONS values = Values(4);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY;
  values.repetitionPenalty = 2;
  EXPECT_THAT(ReadAll(Start({2, 0, 1}, Options(values).Get()).Get()).tokens, ElementsAre(3, 4, 5, 6));
  values = Values(3);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_PRESENCE_PENALTY;
  values.presencePenalty = 1;
  EXPECT_THAT(ReadAll(Start({2, 0, 1}, Options(values, {kEnd}).Get()).Get()).tokens, ElementsAre(2));
}

TEST_F(GenerationTest, CharactersInSeveralTokensAppearWhenTheyAreComplete) {
  model->logits_of = Saying({1, kFirstHalf, kSecondHalf, 2, kEnd}, 1);
  for (const bool null_fragments : {false, true}) {
    tokenizer->null_fragments = null_fragments;
    Open();
    const Answer answer = Generate({1}, 10);
    EXPECT_THAT(answer.fragments, ElementsAre(L"a", L"", L"\u00e9", L"b"));
    EXPECT_EQ(answer.text, L"a\u00e9b");
  }
}

TEST_F(GenerationTest, ALimitWithinACharacterShowsThatSomethingIsMissing) {
  model->logits_of = Saying({1, kFirstHalf, kSecondHalf}, 1);
  Open();
  const Answer answer = Generate({1}, 2);
  EXPECT_EQ(answer.text, L"a\uFFFD");
  EXPECT_EQ(answer.tokens, (Tokens{1, kFirstHalf}));
}

TEST_F(GenerationTest, Int64TokensAndRankOneWork) {
  model->token_type = WINML_TENSOR_DATA_TYPE_INT64;
  model->token_dims = {UINT64_MAX};
  Open();
  EXPECT_EQ(Generate({3, 1, 4}, 6).tokens, Expected({3, 1, 4}, 6));
}

TEST_F(GenerationTest, AStageOfOneTokenARunGetsThePromptTokenByToken) {
  model->token_dims = {1, 1};
  Open();
  EXPECT_EQ(Generate({3, 1, 4}, 4).tokens, Expected({3, 1, 4}, 4));
  EXPECT_THAT(model->runs, Each(SizeIs(1)));
}

TEST_F(GenerationTest, HalfPrecisionLogitsAndRowsForEachTokenWork) {
  for (const auto type : {WINML_TENSOR_DATA_TYPE_FLOAT16, WINML_TENSOR_DATA_TYPE_BFLOAT16}) {
    model->output_type = type;
    model->all_rows = true;
    Open();
    EXPECT_EQ(Generate({3, 1, 4}, 6).tokens, Expected({3, 1, 4}, 6));
  }
}

TEST_F(GenerationTest, LogitsOnADeviceAreReadThroughASynchronizedLock) {
  model->output_conduct.needs_synchronization = true;
  Open();
  EXPECT_EQ(Generate({3, 1, 4}, 6).tokens, Expected({3, 1, 4}, 6));
}

TEST_F(GenerationTest, TokensSampledByThePipelineAreTaken) {
  model->samples = true;
  configuration = Unified();
  configuration->SetOutput(kUnified, model.Get(), 0, kSampled);
  task = NewTask(tokenizer.Get());
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  EXPECT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.outputKind, kSampled);
  const Tokens expected = Expected({3, 1, 4}, 8);
  EXPECT_EQ(Generate({3, 1, 4}, 8).tokens, expected);
  const Answer stopped = ReadAll(Start({3, 1, 4}, Options(Values(8), {expected[2]}).Get()).Get());
  EXPECT_EQ(stopped.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
}

TEST_F(GenerationTest, BadPromptsAreRefused) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const auto start = [&](const Tokens& prompt) {
    return session->GenerateTokens(static_cast<UINT32>(prompt.size()), prompt.data(), nullptr, nullptr,
                                   stream.ReleaseAndGetAddressOf());
  };
  EXPECT_EQ(start({}), E_INVALIDARG);
  EXPECT_EQ(session->GenerateTokens(0, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_INVALIDARG);
  EXPECT_EQ(session->GenerateTokens(1, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
  const UINT32 token = 1;
  EXPECT_EQ(session->GenerateTokens(1, &token, nullptr, nullptr, nullptr), E_POINTER);
  EXPECT_EQ(start({1, kStrangerVocabulary}), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), AllOf(HasSubstr("token id 29"), HasSubstr("below 29")));
  EXPECT_EQ(start({0xffffffffu}), E_INVALIDARG);
  EXPECT_EQ(session->GenerateText(nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
  EXPECT_EQ(session->GenerateText(L"", nullptr, nullptr, stream.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(model->runs, SizeIs(0));
}

TEST_F(GenerationTest, ATokenizerThatFailsOrLiesIsAnError) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  tokenizer->encode_result = E_ACCESSDENIED;
  EXPECT_EQ(session->GenerateText(L"a", nullptr, nullptr, stream.GetAddressOf()), E_ACCESSDENIED);
  tokenizer->encode_result = S_OK;
  tokenizer->forgets_array = true;
  EXPECT_EQ(session->GenerateText(L"a", nullptr, nullptr, stream.GetAddressOf()), E_UNEXPECTED);
  tokenizer->forgets_array = false;
  tokenizer->decoder_result = E_OUTOFMEMORY;
  EXPECT_EQ(session->GenerateText(L"a", nullptr, nullptr, stream.GetAddressOf()), E_OUTOFMEMORY);
  tokenizer->decoder_result = S_OK;
  tokenizer->forgets_decoder = true;
  EXPECT_EQ(session->GenerateText(L"a", nullptr, nullptr, stream.GetAddressOf()), E_UNEXPECTED);
  tokenizer->forgets_decoder = false;
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);

  tokenizer->decode_token_result = E_FAIL;
  const Answer answer = Generate({1}, 3);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, E_FAIL);
  EXPECT_THAT(answer.sentence, HasSubstr("DecodeToken"));
}

}  // namespace
}  // namespace owml::test
