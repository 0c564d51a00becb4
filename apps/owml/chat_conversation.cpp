// Each turn sends the whole conversation; the chat task finds out what the model still holds of it.
// See chat_conversation.h.
#include "chat_conversation.h"

#include <objbase.h>

#include <fstream>
#include <openwinml/strings.hpp>
#include <utility>

#include "answer_shape.h"
#include "conversation_file.h"
#include "failure.h"

namespace owml::cli {
namespace {

std::string Text(LPCWSTR text) { return text ? openwinml::ToUtf8(text) : std::string(); }

}  // namespace

ChatConversation::ChatConversation(const TextSession& session, Json request, std::string system)
    : session_(session), request_(std::move(request)), system_(std::move(system)) {
  ComPtr<IWinMLChatCompletionTask> task;
  const HRESULT result =
      winml::tasks::CreateChatCompletionTask(session.tasks(), session.tokenizer(), task.GetAddressOf());
  if (result == E_NOINTERFACE) {
    throw Failure("the model carries no chat template; use `owml generate` for plain continuation", result);
  }
  Check(result, "making a chat task");
  Check(task->CreateSession(session.session(), chat_.GetAddressOf()), "making a chat session");
  Restart();
}

ChatConversation::~ChatConversation() {
  if (chat_) chat_->Close();
}

void ChatConversation::Restart() {
  messages_ = Json::array();
  if (!system_.empty()) messages_.push_back({{"role", "system"}, {"content", system_}});
}

Json ChatConversation::NewTurn(const std::string& role, const std::string& text) const {
  Json turn = {{"role", role}, {"content", text}};
  if (role != "tool") return turn;
  const Json* last = messages_.empty() ? nullptr : &messages_.back();
  if (!last || !last->contains("tool_calls")) {
    throw Failure("the last turn has no call that a result could be for", E_INVALIDARG);
  }
  const Json& call = (*last)["tool_calls"].back();
  turn["tool_call_id"] = call["id"];
  turn["name"] = call["function"]["name"];
  return turn;
}

ChatAnswer ChatConversation::Answer(const std::string& role, const std::string& text, IWinMLCancellationSource* source,
                                    const std::function<void(const std::string&)>& emit) {
  messages_.push_back(NewTurn(role, text));
  ChatAnswer answer;
  try {
    answer = Generate(source, emit);
  } catch (...) {
    messages_.erase(messages_.size() - 1);
    throw;
  }
  if (answer.content.empty() && answer.tool_calls.empty() && std::string(answer.stats.finish) == "cancelled") {
    messages_.erase(messages_.size() - 1);
    return answer;
  }
  Json turn = {{"role", "assistant"}, {"content", answer.content}};
  if (!answer.reasoning.empty()) turn["reasoning_content"] = answer.reasoning;
  if (!answer.tool_calls.empty()) turn["tool_calls"] = answer.tool_calls;
  messages_.push_back(std::move(turn));
  return answer;
}

size_t ChatConversation::CountPrompt(const WINML_CONVERSATION_REQUEST& request) const {
  ComPtr<IWinMLStructuredConversationFormatter> formatter;
  ComPtr<IWinMLConversationFormatResult> formatted;
  UINT32 count = 0;
  UINT32* ids = nullptr;
  if (FAILED(session_.tokenizer()->QueryInterface(IID_PPV_ARGS(formatter.GetAddressOf()))) ||
      FAILED(formatter->FormatConversation(&request, formatted.GetAddressOf())) ||
      FAILED(formatted->GetTokenIds(&count, &ids))) {
    return 0;
  }
  CoTaskMemFree(ids);
  return count;
}

ChatAnswer ChatConversation::Generate(IWinMLCancellationSource* source,
                                      const std::function<void(const std::string&)>& emit) {
  session_.ResetIfNeeded();
  Json whole = request_;
  whole["messages"] = messages_;
  ConversationFile conversation(whole.dump(), "the conversation");
  const WINML_CONVERSATION_REQUEST& request = conversation.request();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  ChatAnswer answer;
  AnswerClock clock;
  const HRESULT started = chat_->Generate(&request, session_.options(), source, stream.GetAddressOf());
  if (started == HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER)) {
    CheckStart(started, CountPrompt(request), session_.capacity(), "");
  }
  Check(started, "answering");
  while (true) {
    auto status = WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED;
    auto type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
    ComPtr<IWinMLConversationOutputEvent> event;
    LPCWSTR text = nullptr;
    Check(stream->ReadNext(&status, event.GetAddressOf()), "answering");
    if (status == WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED) break;
    clock.Piece();
    Check(event->GetType(&type), "answering");
    if (type != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) continue;
    Check(event->GetText(&text), "answering");
    emit(Text(text));
  }
  clock.Stop(&answer.stats);
  ComPtr<IWinMLChatCompletionResult> result;
  Check(stream->GetResult(result.GetAddressOf()), "reading the answer");
  ReadResult(result.Get(), &answer);
  Check(stream->Close(), "closing the stream");
  return answer;
}

void ChatConversation::ReadResult(IWinMLChatCompletionResult* result, ChatAnswer* answer) const {
  HRESULT error = S_OK;
  Check(result->GetErrorCode(&error), "reading the answer");
  Check(error, "answering");
  ComPtr<IWinMLTextGenerationResult> text;
  Check(result->GetTextGenerationResult(text.GetAddressOf()), "reading the answer");
  ReadTextResult(text.Get(), &answer->stats);
  auto reason = WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN;
  Check(result->GetFinishReason(&reason), "reading the answer");
  if (reason == WINML_CHAT_COMPLETION_FINISH_REASON_ADDITIONAL_STOP) answer->stats.finish = "stop";
  LPCWSTR content = nullptr;
  LPCWSTR reasoning = nullptr;
  Check(result->GetContent(&content), "reading the answer");
  Check(result->GetReasoningContent(&reasoning), "reading the answer");
  answer->content = Text(content);
  answer->reasoning = Text(reasoning);
  UINT32 calls = 0;
  Check(result->GetToolCallCount(&calls), "reading the answer");
  for (UINT32 i = 0; i < calls; ++i) {
    LPCWSTR id = nullptr;
    LPCWSTR name = nullptr;
    LPCWSTR arguments = nullptr;
    Check(result->GetToolCall(i, &id, &name, &arguments), "reading the answer");
    answer->tool_calls.push_back(
        {{"id", Text(id)}, {"type", "function"}, {"function", {{"name", Text(name)}, {"arguments", Text(arguments)}}}});
  }
  WINML_CHAT_COMPLETION_PROMPT_CACHE cache = {};
  UINT32 prompt = 0;
  UINT32 completion = 0;
  Check(result->GetPromptCacheUse(&cache), "reading the answer");
  Check(result->GetTokenCounts(&prompt, &completion), "reading the answer");
  answer->stats.prompt_tokens = prompt;
  answer->stats.cached_tokens = cache.cachedPromptTokenCount;
  answer->stats.generated_tokens = completion;
}

void ChatConversation::Save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << messages_.dump(2) << '\n';
  file.close();
  if (!file) throw Failure("cannot write " + path);
}

void ChatConversation::Load(const std::string& path) {
  Json loaded = ReadJsonFile(path, "the transcript");
  if (!loaded.is_array()) {
    throw Failure("the transcript: " + path + " is no list of messages", HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  }
  ConversationFile check(loaded.dump(), path);  // whatever is wrong is said now
  messages_ = std::move(loaded);
}

}  // namespace owml::cli
