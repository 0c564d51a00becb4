// Getters of an event; one that does not belong to the event's type is refused.
// Called by chat tasks and applications.
#include "conversation/output_event.h"

#include "com/guard.h"

namespace owml {
namespace {

[[noreturn]] void WrongType(const char* what) {
  throw Error(E_NOT_VALID_STATE, std::string("an event of this type has no ") + what);
}

}  // namespace

OutputEvent::OutputEvent(WINML_CONVERSATION_OUTPUT_EVENT_TYPE type, std::wstring text)
    : type_(type), text_(std::move(text)) {}

HRESULT OutputEvent::GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetType", [&] {
    RequireOut(type, "type");
    *type = type_;
  });
}

HRESULT OutputEvent::GetToolCallIndex(UINT32* index) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetToolCallIndex", [&] {
    RequireOut(index, "index");
    WrongType("tool call");
  });
}

HRESULT OutputEvent::GetCallId(LPCWSTR* callId) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetCallId", [&] {
    RequireOut(callId, "callId");
    WrongType("tool call");
  });
}

HRESULT OutputEvent::GetToolName(LPCWSTR* toolName) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetToolName", [&] {
    RequireOut(toolName, "toolName");
    WrongType("tool call");
  });
}

HRESULT OutputEvent::GetText(LPCWSTR* text) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetText", [&] {
    RequireOut(text, "text");
    if (type_ != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) WrongType("text");
    *text = text_.c_str();
  });
}

HRESULT OutputEvent::GetError(HRESULT* error, LPCWSTR* message) noexcept {
  return Guard("IWinMLConversationOutputEvent::GetError", [&] {
    RequireOut(error, "error");
    RequireOut(message, "message");
    WrongType("error");
  });
}

}  // namespace owml
