// A chat session over a stranger's model and formatter; short ways to complete and to look.
// Used by the tests of this folder.
#pragma once

#include <memory>

#include "tasks/chat_completion/stranger_conversation.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {

struct SeenEvent {
  WINML_CONVERSATION_OUTPUT_EVENT_TYPE type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA;
  std::wstring text;
  UINT32 first = 0;
  Tokens tokens;
  HRESULT error = S_OK;
};

struct Completed {
  std::vector<SeenEvent> events;
  std::wstring content;
  std::wstring reasoning;
  WINML_CHAT_COMPLETION_FINISH_REASON reason = WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
  HRESULT error = S_OK;
  std::string sentence;
  UINT32 prompt_tokens = 0;
  UINT32 completion_tokens = 0;
  WINML_CHAT_COMPLETION_PROMPT_CACHE cache = {};
  ComPtr<IWinMLChatCompletionResult> result;
};

// One call of ReadNext; true for an event, which is added.
inline bool ReadOne(IWinMLChatCompletionPullStream* stream, std::vector<SeenEvent>* events) {
  auto status = static_cast<WINML_CHAT_COMPLETION_READ_STATUS>(77);
  ComPtr<IWinMLConversationOutputEvent> event;
  EXPECT_EQ(stream->ReadNext(&status, event.GetAddressOf()), S_OK);
  EXPECT_EQ(event == nullptr, status == WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED);
  if (!event) return false;
  SeenEvent seen;
  EXPECT_EQ(event->GetType(&seen.type), S_OK);
  LPCWSTR text = nullptr;
  if (seen.type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR) {
    EXPECT_EQ(event->GetError(&seen.error, &text), S_OK);
    seen.text = text;
  } else if (seen.type != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED) {
    EXPECT_EQ(event->GetText(&text), S_OK);
    seen.text = text;
  }
  ComPtr<IWinMLChatCompletionEventProvenance> provenance;
  EXPECT_EQ(event.As(&provenance), S_OK);
  UINT32 count = 77, again = 78;
  UINT32* ids = nullptr;
  EXPECT_EQ(provenance->GetSourceTokenRange(&seen.first, &count), S_OK);
  EXPECT_EQ(provenance->GetSourceTokenIds(&again, &ids), S_OK);
  EXPECT_EQ(count, again);
  seen.tokens = Taken(again, ids);
  events->push_back(std::move(seen));
  return true;
}

// Reads the rest of a stream and its result, checks that they agree, and closes it.
inline Completed ReadAll(IWinMLChatCompletionPullStream* stream, std::vector<SeenEvent> events = {}) {
  Completed all;
  while (ReadOne(stream, &events)) {
  }
  all.events = std::move(events);
  EXPECT_EQ(stream->GetResult(all.result.GetAddressOf()), S_OK);
  if (!all.result) return all;
  LPCWSTR text = nullptr;
  EXPECT_EQ(all.result->GetContent(&text), S_OK);
  all.content = text;
  EXPECT_EQ(all.result->GetReasoningContent(&text), S_OK);
  all.reasoning = text;
  EXPECT_EQ(all.result->GetFinishReason(&all.reason), S_OK);
  EXPECT_EQ(all.result->GetTokenCounts(&all.prompt_tokens, &all.completion_tokens), S_OK);
  EXPECT_EQ(all.result->GetPromptCacheUse(&all.cache), S_OK);
  EXPECT_EQ(all.cache.promptTokenCount, all.prompt_tokens);
  EXPECT_EQ(all.result->GetErrorCode(&all.error), S_OK);
  EXPECT_EQ(FAILED(all.error), all.reason == WINML_CHAT_COMPLETION_FINISH_REASON_ERROR);
  if (FAILED(all.error)) all.sentence = openwinml::LastErrorMessage();
  std::wstring content, reasoning;
  Tokens covered;
  for (const SeenEvent& event : all.events) {
    if (event.type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) content += event.text;
    if (event.type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_REASONING_DELTA) reasoning += event.text;
    EXPECT_EQ(event.first, covered.size()) << "the events' tokens follow each other";
    covered.insert(covered.end(), event.tokens.begin(), event.tokens.end());
  }
  EXPECT_EQ(content, all.content);
  EXPECT_EQ(reasoning, all.reasoning);
  EXPECT_LE(covered.size(), all.completion_tokens);
  EXPECT_EQ(stream->Close(), S_OK);
  return all;
}

class ChatTest : public TextGenerationTest {
 protected:
  ChatTest() {
    conduct = std::make_shared<Conduct>();
    chat_tokenizer.Attach(new ChatTokenizer(conduct));
    tokenizer = chat_tokenizer.Get();
    EXPECT_EQ(tasks.As(&chat_factory), S_OK);
  }
  ~ChatTest() override {
    chat.Reset();
    chat_task.Reset();
  }

  void OpenChat() {
    Open();
    if (!chat_task) {
      ASSERT_EQ(chat_factory->CreateChatCompletionTask(tokenizer.Get(), chat_task.GetAddressOf()), S_OK)
          << openwinml::LastErrorMessage();
    }
    ASSERT_EQ(chat_task->CreateSession(session.Get(), chat.ReleaseAndGetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
  }

  using Messages = std::vector<std::pair<std::wstring, std::wstring>>;

  HRESULT TryStart(const Messages& messages, ComPtr<IWinMLChatCompletionPullStream>* stream,
                   IWinMLTextGenerationOptions* options = nullptr, IWinMLCancellationSource* cancellation = nullptr) {
    std::vector<WINML_CONVERSATION_MESSAGE> array;
    for (const auto& [role, content] : messages) {
      WINML_CONVERSATION_MESSAGE message = {};
      message.role = role.c_str();
      message.content = content.c_str();
      array.push_back(message);
    }
    WINML_CONVERSATION_REQUEST request = {};
    request.messageCount = static_cast<UINT32>(array.size());
    request.messages = array.data();
    request.addGenerationPrompt = TRUE;
    return chat->Generate(&request, options, cancellation, stream->ReleaseAndGetAddressOf());
  }

  ComPtr<IWinMLChatCompletionPullStream> StartChat(const Messages& messages,
                                                   IWinMLTextGenerationOptions* options = nullptr,
                                                   IWinMLCancellationSource* cancellation = nullptr) {
    ComPtr<IWinMLChatCompletionPullStream> stream;
    EXPECT_EQ(TryStart(messages, &stream, options, cancellation), S_OK) << openwinml::LastErrorMessage();
    return stream;
  }

  Completed Complete(const Messages& messages, UINT32 max_new_tokens = 8,
                     IWinMLCancellationSource* cancellation = nullptr) {
    const auto stream = StartChat(messages, Options(max_new_tokens).Get(), cancellation);
    return stream ? ReadAll(stream.Get()) : Completed{};
  }

  // The model answers the prompt "uq." + "a" (four tokens) with these.
  void Says(const Tokens& script) { model->logits_of = Saying(script, 4); }
  inline static const Messages kAsk = {{L"user", L"q"}};

  std::shared_ptr<Conduct> conduct;
  ComPtr<ChatTokenizer> chat_tokenizer;
  ComPtr<IWinMLChatCompletionTaskFactory> chat_factory;
  ComPtr<IWinMLChatCompletionTask> chat_task;
  ComPtr<IWinMLChatCompletionSession> chat;
};

}  // namespace owml::test
