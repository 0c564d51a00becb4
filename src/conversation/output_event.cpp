// Getters of an event; one that does not belong to the event's type is refused.
// Called by chat tasks and applications.
#include "conversation/output_event.h"

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

WINML_CONVERSATION_OUTPUT_EVENT_TYPE TypeOf(text::ReplyEvent::Kind kind) {
  switch (kind) {
    case text::ReplyEvent::Kind::kContent:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA;
    case text::ReplyEvent::Kind::kReasoning:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_REASONING_DELTA;
    case text::ReplyEvent::Kind::kCallStart:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_START;
    case text::ReplyEvent::Kind::kArguments:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_ARGUMENTS_DELTA;
    case text::ReplyEvent::Kind::kCallEnd:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_END;
    case text::ReplyEvent::Kind::kError:
      return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR;
    case text::ReplyEvent::Kind::kCompleted:
      break;
  }
  return WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
}

[[noreturn]] void WrongType(const char* what) {
  throw Error(E_NOT_VALID_STATE, std::string("an event of this type has no ") + what);
}

}  // namespace

OutputEvent::OutputEvent(const text::ReplyEvent& event)
    : type_(TypeOf(event.kind)),
      text_(ToWide(event.text)),
      index_(event.index),
      call_id_(ToWide(event.id)),
      tool_name_(ToWide(event.name)) {}

void OutputEvent::RequireToolCall() const {
  if (type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_START &&
      type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_ARGUMENTS_DELTA &&
      type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_CALL_END) {
    WrongType("tool call");
  }
}

HRESULT OutputEvent::GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetType", [&] {
    RequireOut(type, "type");
    *type = type_;
  });
}

HRESULT OutputEvent::GetToolCallIndex(UINT32* index) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetToolCallIndex", [&] {
    RequireOut(index, "index");
    RequireToolCall();
    *index = index_;
  });
}

HRESULT OutputEvent::GetCallId(LPCWSTR* callId) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetCallId", [&] {
    RequireOut(callId, "callId");
    RequireToolCall();
    *callId = call_id_.c_str();
  });
}

HRESULT OutputEvent::GetToolName(LPCWSTR* toolName) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetToolName", [&] {
    RequireOut(toolName, "toolName");
    RequireToolCall();
    *toolName = tool_name_.c_str();
  });
}

HRESULT OutputEvent::GetText(LPCWSTR* text) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetText", [&] {
    RequireOut(text, "text");
    if (type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA &&
        type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_REASONING_DELTA &&
        type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_TOOL_ARGUMENTS_DELTA) {
      WrongType("text");
    }
    *text = text_.c_str();
  });
}

HRESULT OutputEvent::GetError(HRESULT* error, LPCWSTR* message) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetError", [&] {
    RequireOut(error, "error");
    RequireOut(message, "message");
    if (type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR) WrongType("error");
    // Spec-open: the code of an answer that is not in the form that the prompt asked for.
    *error = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    *message = text_.c_str();
  });
}

}  // namespace owml
