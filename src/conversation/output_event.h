// One step of a parsed answer.
// Made by output parsers.
#pragma once

#include <WinMLConversation.h>

#include <string>

#include "com/implements.h"
#include "text/template/reply_parser.h"

namespace owml {

class OutputEvent final : public Implements<OutputEvent, IWinMLConversationOutputEvent> {
 public:
  explicit OutputEvent(const text::ReplyEvent& event);

  HRESULT STDMETHODCALLTYPE GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept override;
  HRESULT STDMETHODCALLTYPE GetToolCallIndex(UINT32* index) noexcept override;
  HRESULT STDMETHODCALLTYPE GetCallId(LPCWSTR* callId) noexcept override;
  HRESULT STDMETHODCALLTYPE GetToolName(LPCWSTR* toolName) noexcept override;
  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE GetError(HRESULT* error, LPCWSTR* message) noexcept override;

 private:
  void RequireToolCall() const;

  WINML_CONVERSATION_OUTPUT_EVENT_TYPE type_;
  std::wstring text_;  // the message of an error
  UINT32 index_;
  std::wstring call_id_;
  std::wstring tool_name_;
};

}  // namespace owml
