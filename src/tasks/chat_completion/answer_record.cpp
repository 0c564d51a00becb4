// One case for each type of event.
// See answer_record.h.
#include "tasks/chat_completion/answer_record.h"

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

using Event = IWinMLConversationOutputEvent;

template <class Getter>
std::wstring Text(Event* event, Getter getter, const char* name) {
  LPCWSTR text = nullptr;
  ClearThreadError();
  CheckResult((event->*getter)(&text), "an event of the parser", name);
  return text ? std::wstring(text) : std::wstring();
}

UINT32 Index(Event* event) {
  UINT32 index = 0;
  ClearThreadError();
  CheckResult(event->GetToolCallIndex(&index), "an event of the parser", "GetToolCallIndex");
  return index;
}

}  // namespace

AnswerRecord::Call& AnswerRecord::OpenCall(Event* event) {
  const UINT32 index = Index(event);
  const auto found = calls_.find(index);
  Require(found != calls_.end() && !found->second.ended, E_UNEXPECTED,
          "the parser went on with the tool call " + std::to_string(index) + ", which is not open");
  return found->second;
}

void AnswerRecord::Add(Event* event, WINML_CONVERSATION_OUTPUT_EVENT_TYPE type) {
  switch (type) {
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA:
      content_ += Text(event, &Event::GetText, "GetText");
      return;
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_REASONING_DELTA:
      reasoning_ += Text(event, &Event::GetText, "GetText");
      return;
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_START: {
      const UINT32 index = Index(event);
      Call call;
      call.id = Text(event, &Event::GetCallId, "GetCallId");
      call.name = Text(event, &Event::GetToolName, "GetToolName");
      Require(calls_.emplace(index, std::move(call)).second, E_UNEXPECTED,
              "the parser started the tool call " + std::to_string(index) + " twice");
      return;
    }
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_ARGUMENTS_DELTA:
      OpenCall(event).arguments += Text(event, &Event::GetText, "GetText");
      return;
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_END:
      OpenCall(event).ended = true;
      return;
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED:
      return;
    case WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR: {
      HRESULT code = S_OK;
      LPCWSTR message = nullptr;
      ClearThreadError();
      CheckResult(event->GetError(&code, &message), "an event of the parser", "GetError");
      if (FAILED(error_)) return;
      error_ = FAILED(code) ? code : E_FAIL;
      if (message) sentence_ = ToUtf8(message);
      return;
    }
  }
  throw Error(E_UNEXPECTED, "the parser gave an event of the unknown type " + std::to_string(type));
}

std::vector<RecordedToolCall> AnswerRecord::ToolCalls() const {
  std::vector<RecordedToolCall> ended;
  for (const auto& [index, call] : calls_) {
    if (call.ended) ended.push_back(call);
  }
  return ended;
}

}  // namespace owml
