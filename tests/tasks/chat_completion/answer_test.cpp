// What becomes of the generated text: events, their tokens, the result.
#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kContent = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA;
constexpr auto kReasoning = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_REASONING_DELTA;
constexpr auto kCallStart = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_START;
constexpr auto kArguments = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_ARGUMENTS_DELTA;
constexpr auto kCallEnd = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_END;
constexpr auto kCompletedEvent = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
constexpr auto kErrorEvent = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR;

class ChatAnswer : public ChatTest {};

TEST_F(ChatAnswer, IsTheTextUpToTheEndToken) {
  OpenChat();
  Says({8, 9, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"hi");
  EXPECT_EQ(answer.reasoning, L"");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN);
  EXPECT_EQ(answer.prompt_tokens, 4u);
  EXPECT_EQ(answer.completion_tokens, 2u) << "without the end token";
  ASSERT_THAT(answer.events, SizeIs(3));
  EXPECT_THAT(answer.events[0].tokens, ElementsAre(8));
  EXPECT_THAT(answer.events[1].tokens, ElementsAre(9));
  EXPECT_EQ(answer.events[2].type, kCompletedEvent);
  EXPECT_THAT(answer.events[2].tokens, IsEmpty());
  EXPECT_EQ(conduct->flushes, 1);
}

TEST_F(ChatAnswer, ResultHasTheTextGenerationsResult) {
  OpenChat();
  Says({8, 9, kEnd});
  const Completed answer = Complete(kAsk);
  ComPtr<IWinMLTextGenerationResult> text;
  ASSERT_EQ(answer.result->GetTextGenerationResult(text.GetAddressOf()), S_OK);
  LPCWSTR all = nullptr;
  ASSERT_EQ(text->GetText(&all), S_OK);
  EXPECT_STREQ(all, L"hi");
}

TEST_F(ChatAnswer, FinishReasonsAreThoseOfTheText) {
  OpenChat();
  Says({8, 9, kEnd});
  EXPECT_EQ(Complete(kAsk, 1).reason, WINML_CHAT_COMPLETION_FINISH_REASON_MAX_TOKENS);
  const auto stopping = StartChat(kAsk, Options(Values(8), {9}).Get());
  EXPECT_EQ(ReadAll(stopping.Get()).reason, WINML_CHAT_COMPLETION_FINISH_REASON_STOP_TOKEN);
  chat.Reset();
  model->capacity = 5;
  OpenChat();
  const Completed full = Complete(kAsk);
  EXPECT_EQ(full.reason, WINML_CHAT_COMPLETION_FINISH_REASON_SEQUENCE_CAPACITY);
  EXPECT_EQ(full.content, L"h");
}

TEST_F(ChatAnswer, TokensWithoutTextCountForTheNextEvent) {
  OpenChat();
  Says({kFirstHalf, kSecondHalf, 9, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"\u00e9i");
  ASSERT_THAT(answer.events, SizeIs(3));
  EXPECT_THAT(answer.events[0].tokens, ElementsAre(kFirstHalf, kSecondHalf));
  EXPECT_EQ(answer.events[1].first, 2u);
}

TEST_F(ChatAnswer, TokensAreOfOneEventOnly) {
  conduct->parse = [](const std::wstring& text) -> std::vector<EventData> {
    if (text == L"h") return {};  // held back
    return {{kReasoning, L"hm", 0, L"", L"", S_OK}, {kContent, text, 0, L"", L"", S_OK}};
  };
  OpenChat();
  Says({8, 9, 9, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.reasoning, L"hmhm");
  EXPECT_EQ(answer.content, L"ii");
  ASSERT_THAT(answer.events, SizeIs(5));
  EXPECT_THAT(answer.events[0].tokens, ElementsAre(8, 9));
  EXPECT_THAT(answer.events[1].tokens, IsEmpty());
  EXPECT_THAT(answer.events[2].tokens, ElementsAre(9));
}

TEST_F(ChatAnswer, ToolCallsAreCollectedByIndex) {
  conduct->parse = [](const std::wstring& text) -> std::vector<EventData> {
    if (text == L"a") return {{kCallStart, L"", 1, L"id1", L"sum", S_OK}, {kCallStart, L"", 0, L"id0", L"now", S_OK}};
    if (text == L"b") return {{kArguments, L"{\"x\":", 1, L"id1", L"sum", S_OK}};
    if (text == L"c") return {{kArguments, L"1}", 1, L"id1", L"sum", S_OK}, {kArguments, L"{}", 0, L"", L"", S_OK}};
    return {{kCallEnd, L"", 0, L"id0", L"now", S_OK}, {kCallEnd, L"", 1, L"id1", L"sum", S_OK}};
  };
  OpenChat();
  Says({1, 2, 3, 4, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"");
  UINT32 count = 0;
  ASSERT_EQ(answer.result->GetToolCallCount(&count), S_OK);
  ASSERT_EQ(count, 2u);
  LPCWSTR id = nullptr, name = nullptr, arguments = nullptr;
  ASSERT_EQ(answer.result->GetToolCall(1, &id, &name, &arguments), S_OK);
  EXPECT_STREQ(id, L"id1");
  EXPECT_STREQ(name, L"sum");
  EXPECT_STREQ(arguments, L"{\"x\":1}");
  EXPECT_EQ(answer.result->GetToolCall(2, &id, &name, &arguments), E_BOUNDS);
  EXPECT_EQ(id, nullptr);
}

TEST_F(ChatAnswer, AToolCallThatDidNotEndIsNotInTheResult) {
  conduct->parse = [](const std::wstring&) -> std::vector<EventData> {
    return {{kCallStart, L"", 0, L"id", L"sum", S_OK}, {kArguments, L"{", 0, L"id", L"sum", S_OK}};
  };
  OpenChat();
  Says({1, 2, kEnd});
  const Completed answer = Complete(kAsk, 1);
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_MAX_TOKENS);
  UINT32 count = 7;
  ASSERT_EQ(answer.result->GetToolCallCount(&count), S_OK);
  EXPECT_EQ(count, 0u);
}

TEST_F(ChatAnswer, AnErrorOfTheParserIsTheCompletions) {
  conduct->parse = [](const std::wstring& text) -> std::vector<EventData> {
    if (text == L"h") return {{kContent, L"h", 0, L"", L"", S_OK}};
    return {{kErrorEvent, L"no such call", 0, L"", L"", E_ABORT}};
  };
  OpenChat();
  Says({8, 9, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"h");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, E_ABORT);
  EXPECT_THAT(answer.sentence, HasSubstr("no such call"));
}

TEST_F(ChatAnswer, WhatTheParserSaysOfAnAnswerCutShortChangesNoReason) {
  conduct->at_flush = {{kErrorEvent, L"half a call", 0, L"", L"", E_ABORT}};
  OpenChat();
  Says({8, 9, kEnd});
  const Completed answer = Complete(kAsk, 1);
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_MAX_TOKENS);
  EXPECT_EQ(answer.events.back().type, kErrorEvent);
  EXPECT_EQ(Complete(kAsk).reason, WINML_CHAT_COMPLETION_FINISH_REASON_ERROR) << "the model ended it itself";
}

TEST_F(ChatAnswer, AFailedGenerationKeepsWhatWasSaidAndTellsItsError) {
  OpenChat();
  Says({8, 9, kEnd});
  model->before_run = [](size_t run) { return run == 1 ? E_ABORT : S_OK; };
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"h");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, E_ABORT);
  EXPECT_EQ(answer.events.back().type, kErrorEvent);
  EXPECT_EQ(answer.events.back().error, E_ABORT);
  EXPECT_EQ(conduct->flushes, 0) << "the answer has no end";
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart(kAsk, &stream), E_NOT_VALID_STATE) << "the text session asks for a reset";
  model->before_run = [](size_t) { return S_OK; };
  ASSERT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(Complete(kAsk).content, L"hi");
}

TEST_F(ChatAnswer, AParserThatFailsEndsTheCompletion) {
  for (HRESULT Conduct::*failing : {&Conduct::append_result, &Conduct::flush_result, &Conduct::read_result}) {
    (*conduct).*failing = E_ABORT;
    OpenChat();
    Says({8, 9, kEnd});
    const Completed answer = Complete(kAsk);
    EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_ERROR);
    EXPECT_EQ(answer.error, E_ABORT);
    EXPECT_THAT(answer.sentence, HasSubstr("parser"));
    EXPECT_EQ(answer.events.back().type, kErrorEvent);
    EXPECT_NE(State(), WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE) << "the text generation has ended with it";
    (*conduct).*failing = S_OK;
    chat.Reset();
  }
}

TEST_F(ChatAnswer, EventsThatContradictEachOtherAreErrors) {
  for (const EventData& wrong :
       {EventData{kArguments, L"{", 3, L"", L"", S_OK}, EventData{kCallEnd, L"", 0, L"", L"", S_OK},
        EventData{static_cast<WINML_CONVERSATION_OUTPUT_EVENT_TYPE>(99), L"", 0, L"", L"", S_OK}}) {
    conduct->parse = [wrong](const std::wstring&) { return std::vector<EventData>{wrong}; };
    OpenChat();
    Says({8, 9, kEnd});
    EXPECT_EQ(Complete(kAsk).error, E_UNEXPECTED) << wrong.type;
    chat.Reset();
  }
  conduct->parse = [](const std::wstring&) {
    const EventData start = {kCallStart, L"", 0, L"id", L"name", S_OK};
    return std::vector<EventData>{start, start};
  };
  OpenChat();
  Says({8, 9, kEnd});
  EXPECT_EQ(Complete(kAsk).error, E_UNEXPECTED);
  chat.Reset();
  conduct->parse = nullptr;
  conduct->forgets_event = true;
  OpenChat();
  EXPECT_EQ(Complete(kAsk).error, E_UNEXPECTED);
}

TEST_F(ChatAnswer, PreservedTokensReachTheParserAsText) {
  conduct->preserved = {{kFirstHalf, L"<call>"}, {8, L"h"}};
  OpenChat();
  Says({8, kFirstHalf, 9, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"h<call>i") << "and one that has its text already stays as it is";
}

class ChatStops : public ChatTest {};

TEST_F(ChatStops, AStopTextEndsTheAnswerBeforeItself) {
  conduct->stops = {L"xyz"};
  OpenChat();
  Says({8, 24, 25, 26, 9, 9, 9});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"h");
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_ADDITIONAL_STOP);
  EXPECT_EQ(answer.error, S_OK);
  EXPECT_EQ(answer.completion_tokens, 4u) << "its own tokens were generated";
  EXPECT_THAT(model->runs, SizeIs(4)) << "and none behind it";
  EXPECT_EQ(answer.events.back().type, kCompletedEvent);
}

TEST_F(ChatStops, WhatOnlyBeginsLikeOneIsContent) {
  conduct->stops = {L"xyz"};
  OpenChat();
  Says({8, 24, 25, 9, 24, kEnd});
  const Completed answer = Complete(kAsk);
  EXPECT_EQ(answer.content, L"hxyix");
  EXPECT_THAT(conduct->appended, ElementsAre(L"h", L"xyi", L"x")) << "held back until it is certain";
  EXPECT_EQ(answer.reason, WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN);
}

TEST_F(ChatStops, TheApplicationsSourceIsNotCancelled) {
  conduct->stops = {L"x"};
  OpenChat();
  Says({8, 24, 9});
  const auto source = NewCancellation();
  EXPECT_EQ(Complete(kAsk, 8, source.Get()).reason, WINML_CHAT_COMPLETION_FINISH_REASON_ADDITIONAL_STOP);
  BOOL canceled = TRUE;
  EXPECT_EQ(source->GetIsCanceled(&canceled), S_OK);
  EXPECT_FALSE(canceled);
}

TEST_F(ChatStops, CancellingWorksWithThemToo) {
  conduct->stops = {L"x"};
  OpenChat();
  Says({8, 9, 9, 9, 9});
  const auto source = NewCancellation();
  const auto stream = StartChat(kAsk, nullptr, source.Get());
  std::vector<SeenEvent> events;
  ReadOne(stream.Get(), &events);
  source->Cancel();
  EXPECT_EQ(ReadAll(stream.Get(), events).reason, WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED);
}

TEST_F(ChatStops, AnEmptyOneIsAnError) {
  conduct->stops = {L""};
  OpenChat();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart(kAsk, &stream), E_UNEXPECTED);
}

}  // namespace
}  // namespace owml::test
