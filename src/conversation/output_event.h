// One step of a parsed answer.
// Made by output parsers.
#pragma once

#include <WinMLConversation.h>

#include <string>

#include "com/implements.h"

namespace owml {

class OutputEvent final : public Implements<OutputEvent, IWinMLConversationOutputEvent> {
 public:
  // `text` belongs to the types that carry some.
  explicit OutputEvent(WINML_CONVERSATION_OUTPUT_EVENT_TYPE type, std::wstring text = {});

  HRESULT STDMETHODCALLTYPE GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept override;
  HRESULT STDMETHODCALLTYPE GetToolCallIndex(UINT32* index) noexcept override;
  HRESULT STDMETHODCALLTYPE GetCallId(LPCWSTR* callId) noexcept override;
  HRESULT STDMETHODCALLTYPE GetToolName(LPCWSTR* toolName) noexcept override;
  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE GetError(HRESULT* error, LPCWSTR* message) noexcept override;

 private:
  WINML_CONVERSATION_OUTPUT_EVENT_TYPE type_;
  std::wstring text_;
};

}  // namespace owml
