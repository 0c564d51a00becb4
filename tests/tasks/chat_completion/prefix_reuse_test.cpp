// What a completion keeps of the sequence before it, and that its counts say so.
#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr auto kFull = WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_FULL_PREFILL;
constexpr auto kReused = WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_REUSED_PREFIX;

class PrefixReuse : public ChatTest {
 protected:
  // The answer to every prompt is "hi".
  PrefixReuse() {
    model->capacity = 500;
    model->logits_of = [](const Tokens& seen) {
      const UINT32 last = seen.back();
      std::vector<float> logits(kStrangerVocabulary, 0.0f);
      logits[last == 8 ? 9 : last == 9 ? kEnd : 8] = 1.0f;
      return logits;
    };
  }

  void ExpectUse(const Completed& answer, WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE mode, UINT32 cached) {
    EXPECT_EQ(answer.content, L"hi");
    EXPECT_EQ(answer.cache.mode, mode);
    EXPECT_EQ(answer.cache.cachedPromptTokenCount, cached);
    EXPECT_EQ(answer.cache.cachedPromptTokenCount + answer.cache.prefilledPromptTokenCount,
              answer.cache.promptTokenCount);
  }

  inline static const Messages kNext = {{L"user", L"q"}, {L"assistant", L"hi"}, {L"user", L"r"}};
};

TEST_F(PrefixReuse, TheFirstTurnEvaluatesAll) {
  OpenChat();
  ExpectUse(Complete(kAsk), kFull, 0);
}

TEST_F(PrefixReuse, TheNextTurnEvaluatesWhatIsNew) {
  OpenChat();
  Complete(kAsk);
  EXPECT_THAT(Retained(), SizeIs(6)) << "prompt and answer, not the end token";
  model->runs.clear();
  const Completed answer = Complete(kNext);
  ExpectUse(answer, kReused, 6);
  EXPECT_EQ(answer.prompt_tokens, 11u);
  EXPECT_THAT(model->runs.at(0), ElementsAre(kEnd, 21, 18, kEnd, 1)) << "end of the answer, user, r, end, assistant";
}

TEST_F(PrefixReuse, APromptThatTurnsAwayKeepsTheCommonPart) {
  OpenChat();
  Complete({{L"user", L"abcdef"}});
  model->runs.clear();
  const Completed answer = Complete({{L"user", L"abcxyz"}});
  ExpectUse(answer, kReused, 4);
  EXPECT_THAT(model->runs.at(0), ElementsAre(24, 25, 26, kEnd, 1));
  EXPECT_THAT(Retained(), ElementsAre(21, 1, 2, 3, 24, 25, 26, kEnd, 1, 8, 9));
}

TEST_F(PrefixReuse, TheSamePromptAgainEvaluatesOneToken) {
  OpenChat();
  Complete(kAsk);
  model->runs.clear();
  ExpectUse(Complete(kAsk), kReused, 3);
  EXPECT_THAT(model->runs.at(0), SizeIs(1));
}

TEST_F(PrefixReuse, APromptThatEndsInsideTheSequenceEvaluatesOneToken) {
  OpenChat();
  Complete(kNext);
  ExpectUse(Complete(kAsk), kReused, 3);
}

TEST_F(PrefixReuse, NothingInCommonStartsAnew) {
  OpenChat();
  Complete(kAsk);
  ExpectUse(Complete({{L"system", L"q"}}), kFull, 0);
}

TEST_F(PrefixReuse, AStageThatCannotRewindStartsAnew) {
  OpenChat();
  Complete({{L"user", L"abcdef"}});
  model->rewind_result = E_INVALIDARG;
  ExpectUse(Complete({{L"user", L"abcxyz"}}), kFull, 0);
  EXPECT_THAT(Retained(), ElementsAre(21, 1, 2, 3, 24, 25, 26, kEnd, 1, 8, 9));
}

TEST_F(PrefixReuse, AResetForgets) {
  OpenChat();
  Complete(kAsk);
  ASSERT_EQ(session->Reset(), S_OK);
  ExpectUse(Complete(kNext), kFull, 0);
}

TEST_F(PrefixReuse, AStreamDroppedOnTheWayIsReusedAsFarAsItCame) {
  OpenChat();
  {
    const auto stream = StartChat(kAsk);
    std::vector<SeenEvent> events;
    ReadOne(stream.Get(), &events);
    ReadOne(stream.Get(), &events);
  }
  EXPECT_THAT(Retained(), SizeIs(5));
  ExpectUse(Complete(kNext), kReused, 5);
}

TEST_F(PrefixReuse, WhatOthersGeneratedBetweenIsReusedToo) {
  OpenChat();
  Generate({21, 17, kEnd, 1}, 2);
  ExpectUse(Complete(kNext), kReused, 5);
}

TEST_F(PrefixReuse, AnswersAreTheSameEitherWay) {
  model->logits_of = NewModel()->logits_of;
  OpenChat();
  const Messages first = {{L"user", L"abcdef"}};
  const Completed cold = Complete(first);
  const Messages other = {{L"user", L"abcxyz"}};
  const Completed warm = Complete(other);
  EXPECT_EQ(warm.cache.mode, kReused);
  ASSERT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(Complete(other).content, warm.content);
  ASSERT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(Complete(first).content, cold.content);
}

TEST_F(PrefixReuse, TwoPipelinesEvaluateAllEachTime) {
  const auto decode = NewModel();
  decode->logits_of = model->logits_of;
  session.Reset();
  configuration = NewConfiguration();
  EXPECT_EQ(configuration->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE), S_OK);
  for (const auto& [phase, its] : {std::pair{kPrefill, model.Get()}, std::pair{kDecode, decode.Get()}}) {
    EXPECT_EQ(configuration->SetPipeline(phase, its), S_OK);
    EXPECT_EQ(configuration->SetTokenInput(phase, its, 0), S_OK);
    EXPECT_EQ(configuration->SetOutput(phase, its, 0, kLogits), S_OK);
  }
  EXPECT_EQ(configuration->SetTokenTarget(cpu.Get()), S_OK);
  EXPECT_EQ(configuration->SetTokenizer(tokenizer.Get()), S_OK);
  EXPECT_EQ(configuration->SetLogicalCapacity(64), S_OK);
  task = NewTask(tokenizer.Get());
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
  ASSERT_EQ(chat_factory->CreateChatCompletionTask(tokenizer.Get(), chat_task.GetAddressOf()), S_OK);
  ASSERT_EQ(chat_task->CreateSession(session.Get(), chat.GetAddressOf()), S_OK);
  ExpectUse(Complete(kAsk), kFull, 0);
  ExpectUse(Complete(kNext), kFull, 0);
  chat.Reset();
  session.Reset();
  configuration.Reset();
}

}  // namespace
}  // namespace owml::test
