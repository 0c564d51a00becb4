// The stream as an object: closing, what it shows, what it refuses.
#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

class ChatPullStream : public ChatTest {};

TEST_F(ChatPullStream, CompletedIsToldAsOftenAsAsked) {
  OpenChat();
  Says({8, kEnd});
  const auto stream = StartChat(kAsk);
  std::vector<SeenEvent> events;
  while (ReadOne(stream.Get(), &events)) {
  }
  EXPECT_FALSE(ReadOne(stream.Get(), &events));
  EXPECT_FALSE(ReadOne(stream.Get(), &events));
}

TEST_F(ChatPullStream, AResultIsThereAfterCompletionAndStaysAfterClose) {
  OpenChat();
  Says({8, kEnd});
  const auto stream = StartChat(kAsk);
  ComPtr<IWinMLChatCompletionResult> result;
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), E_NOT_VALID_STATE);
  const Completed answer = ReadAll(stream.Get());
  LPCWSTR content = nullptr;
  ASSERT_EQ(answer.result->GetContent(&content), S_OK);
  EXPECT_STREQ(content, L"h");
}

TEST_F(ChatPullStream, EventsOutliveTheStream) {
  OpenChat();
  Says({8, kEnd});
  ComPtr<IWinMLConversationOutputEvent> event;
  {
    const auto stream = StartChat(kAsk);
    auto status = WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED;
    ASSERT_EQ(stream->ReadNext(&status, event.GetAddressOf()), S_OK);
  }
  LPCWSTR text = nullptr;
  ASSERT_EQ(event->GetText(&text), S_OK);
  EXPECT_STREQ(text, L"h");
}

TEST_F(ChatPullStream, CloseEndsTheTextStreamToo) {
  OpenChat();
  Says({8, 9, kEnd});
  const auto stream = StartChat(kAsk);
  ComPtr<IWinMLTextGenerationPullStream> text;
  ASSERT_EQ(stream->GetTextGenerationStream(text.GetAddressOf()), S_OK);
  std::vector<SeenEvent> events;
  ReadOne(stream.Get(), &events);
  EXPECT_EQ(stream->Close(), S_OK);
  EXPECT_EQ(stream->Close(), S_OK);
  EXPECT_NE(State(), WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE);
  ComPtr<IWinMLTextGenerationResult> text_result;
  EXPECT_EQ(text->GetResult(text_result.GetAddressOf()), E_NOT_VALID_STATE);

  auto status = WINML_CHAT_COMPLETION_READ_STATUS_EVENT;
  ComPtr<IWinMLConversationOutputEvent> event;
  ComPtr<IWinMLChatCompletionResult> result;
  ComPtr<IWinMLConversationFormatResult> format;
  ComPtr<IWinMLConversationOutputParser> parser;
  ComPtr<IWinMLTokenConstraint> constraint;
  auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
  EXPECT_EQ(stream->ReadNext(&status, event.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->GetFormatResult(format.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->GetOutputParser(parser.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->GetConstraint(&presence, constraint.GetAddressOf()), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->GetTextGenerationStream(text.ReleaseAndGetAddressOf()), E_NOT_VALID_STATE);
}

TEST_F(ChatPullStream, ShowsItsParts) {
  OpenChat();
  const auto stream = StartChat(kAsk);
  ComPtr<IWinMLConversationFormatResult> format;
  ComPtr<IWinMLConversationOutputParser> parser;
  ComPtr<IWinMLTokenConstraint> constraint;
  auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT;
  ASSERT_EQ(stream->GetFormatResult(format.GetAddressOf()), S_OK);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(format->GetTokenIds(&count, &ids), S_OK);
  EXPECT_EQ(Taken(count, ids), (Tokens{21, 17, kEnd, 1}));
  ASSERT_EQ(stream->GetOutputParser(parser.GetAddressOf()), S_OK);
  EXPECT_NE(parser, nullptr);
  ASSERT_EQ(stream->GetConstraint(&presence, constraint.GetAddressOf()), S_OK);
  EXPECT_EQ(presence, WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE);
  EXPECT_EQ(constraint, nullptr);
}

TEST_F(ChatPullStream, RefusesNullPointers) {
  OpenChat();
  const auto stream = StartChat(kAsk);
  auto status = WINML_CHAT_COMPLETION_READ_STATUS_EVENT;
  ComPtr<IWinMLConversationOutputEvent> event;
  EXPECT_EQ(stream->ReadNext(nullptr, event.GetAddressOf()), E_POINTER);
  EXPECT_EQ(stream->ReadNext(&status, nullptr), E_POINTER);
  EXPECT_EQ(stream->GetResult(nullptr), E_POINTER);
  EXPECT_TRUE(model->runs.empty());
}

}  // namespace
}  // namespace owml::test
