// Requests that imply a constraint.
#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

class ChatConstraint : public ChatTest {
 protected:
  ChatConstraint() {
    constraint.Attach(new StrangerConstraint);
    conduct->constraint = constraint.Get();
    constraint->allows = [](const Tokens& accepted, UINT32 token) {
      return token == (accepted.size() < 2 ? 8u : kEnd);
    };
  }
  ~ChatConstraint() override { conduct->constraint.Reset(); }

  ComPtr<StrangerConstraint> constraint;
};

TEST_F(ChatConstraint, ShapesTheAnswer) {
  OpenChat();
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"hh");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN);
  EXPECT_EQ(constraint->accepted, (Tokens{8, 8, kEnd}));
}

TEST_F(ChatConstraint, IsShownByTheStream) {
  OpenChat();
  const auto stream = StartChat(kAsk);
  auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
  ComPtr<IWinMLTokenConstraint> its;
  ASSERT_EQ(stream->GetConstraint(&presence, its.GetAddressOf()), S_OK);
  EXPECT_EQ(presence, WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT);
  EXPECT_TRUE(SameObject(its.Get(), constraint.Get()));
}

TEST_F(ChatConstraint, GoesWithAReusedPrefix) {
  OpenChat();
  Complete(kAsk);
  constraint->Reset();
  const Completed second = Complete({{L"user", L"q"}, {L"assistant", L"hh"}, {L"user", L"r"}});
  EXPECT_EQ(second.content, L"hh");
  EXPECT_EQ(second.cache.mode, WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_REUSED_PREFIX);
  EXPECT_EQ(second.cache.cachedPromptTokenCount, 6u);
}

TEST_F(ChatConstraint, ATokenizerThatMakesNoneRefusesTheRequest) {
  chat_tokenizer->constrains = false;
  OpenChat();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart(kAsk, &stream), kNotSupported);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("constraint"));
  EXPECT_TRUE(model->runs.empty());
}

TEST_F(ChatConstraint, AFailureToMakeItIsTheCalls) {
  OpenChat();
  conduct->constraint_result = E_ABORT;
  conduct->constraint.Reset();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart(kAsk, &stream), E_ABORT);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
}

TEST_F(ChatConstraint, OneForAnotherVocabularyIsRefusedBeforeAnythingRuns) {
  OpenChat();
  constraint->identity.tokenCount = 3;
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart(kAsk, &stream), E_INVALIDARG);
  EXPECT_TRUE(model->runs.empty());
}

TEST_F(ChatConstraint, ThatAllowsNothingEndsInItsError) {
  OpenChat();
  constraint->allows = [](const Tokens& accepted, UINT32) { return accepted.empty(); };
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, kNoLegalToken);
  EXPECT_EQ(answer.completion_tokens, 1u);
}

}  // namespace
}  // namespace owml::test
