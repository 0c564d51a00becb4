// Cancelling a completion: the reason, and what the counts say.
#include <thread>

#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

class ChatCancellation : public ChatTest {};

TEST_F(ChatCancellation, BeforeTheStartEvaluatesNothing) {
  OpenChat();
  const auto source = NewCancellation();
  source->Cancel();
  const Completed answer = Complete(kAsk, 8, source.Get());
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED);
  EXPECT_EQ(answer.error, S_OK);
  EXPECT_EQ(answer.cache.mode, WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_NOT_EVALUATED);
  EXPECT_EQ(answer.prompt_tokens, 4u);
  EXPECT_EQ(answer.completion_tokens, 0u);
  EXPECT_TRUE(model->runs.empty());
}

TEST_F(ChatCancellation, FromAnotherThreadIsAnsweredByTheNextCall) {
  OpenChat();
  Says({8, 9, 8, 9});
  const auto source = NewCancellation();
  const auto stream = StartChat(kAsk, nullptr, source.Get());
  std::vector<SeenEvent> events;
  ReadOne(stream.Get(), &events);
  std::thread([&] { source->Cancel(); }).join();
  const Completed answer = ReadAll(stream.Get(), events);
  EXPECT_EQ(answer.content, L"h");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED);
  EXPECT_EQ(answer.cache.mode, WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_FULL_PREFILL);
  EXPECT_EQ(model->runs.size(), 1u);
}

TEST_F(ChatCancellation, InThePromptLeavesItNotEvaluated) {
  model->capacity = 500;
  OpenChat();
  const auto source = NewCancellation();
  model->before_run = [&](size_t run) {
    if (run == 1) source->Cancel();
    return S_OK;
  };
  const Completed answer = Complete({{L"user", std::wstring(200, L'q')}}, 8, source.Get());
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED);
  EXPECT_EQ(answer.cache.mode, WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_NOT_EVALUATED);
  EXPECT_EQ(answer.cache.cachedPromptTokenCount + answer.cache.prefilledPromptTokenCount, 0u);
}

TEST_F(ChatCancellation, AfterCompletionChangesNothing) {
  OpenChat();
  Says({8, kEnd});
  const auto source = NewCancellation();
  const Completed answer = Complete(kAsk, 8, source.Get());
  source->Cancel();
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN);
}

}  // namespace
}  // namespace owml::test
