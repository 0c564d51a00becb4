// Getters only; the strings are the inner event's.
// See completion_event.h.
#include "tasks/chat_completion/completion_event.h"

#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "com/wide.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

class CompletionEvent final
    : public Implements<CompletionEvent, IWinMLConversationOutputEvent, IWinMLChatCompletionEventProvenance> {
 public:
  CompletionEvent(ComPtr<IWinMLConversationOutputEvent> inner, SourceTokens source)
      : inner_(std::move(inner)), source_(std::move(source)) {}

  HRESULT STDMETHODCALLTYPE GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept override {
    return inner_->GetType(type);
  }
  HRESULT STDMETHODCALLTYPE GetToolCallIndex(UINT32* index) noexcept override {
    return inner_->GetToolCallIndex(index);
  }
  HRESULT STDMETHODCALLTYPE GetCallId(LPCWSTR* callId) noexcept override { return inner_->GetCallId(callId); }
  HRESULT STDMETHODCALLTYPE GetToolName(LPCWSTR* toolName) noexcept override { return inner_->GetToolName(toolName); }
  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) noexcept override { return inner_->GetText(text); }
  HRESULT STDMETHODCALLTYPE GetError(HRESULT* error, LPCWSTR* message) noexcept override {
    return inner_->GetError(error, message);
  }

  HRESULT STDMETHODCALLTYPE GetSourceTokenRange(UINT32* firstTokenIndex, UINT32* tokenCount) noexcept override {
    return Guard("IWinMLChatCompletionEventProvenance::GetSourceTokenRange", [&] {
      RequireOut(firstTokenIndex, "firstTokenIndex");
      RequireOut(tokenCount, "tokenCount");
      *firstTokenIndex = source_.first;
      *tokenCount = static_cast<UINT32>(source_.ids.size());
    });
  }

  HRESULT STDMETHODCALLTYPE GetSourceTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override {
    return Guard("IWinMLChatCompletionEventProvenance::GetSourceTokenIds",
                 [&] { HandOutTokens(source_.ids, tokenCount, tokenIds); });
  }

 private:
  const ComPtr<IWinMLConversationOutputEvent> inner_;
  const SourceTokens source_;
};

class ErrorEvent final : public Implements<ErrorEvent, IWinMLConversationOutputEvent> {
 public:
  ErrorEvent(HRESULT code, std::wstring message) : code_(code), message_(std::move(message)) {}

  HRESULT STDMETHODCALLTYPE GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) noexcept override {
    return Guard("IWinMLConversationOutputEvent::GetType", [&] {
      RequireOut(type, "type");
      *type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR;
    });
  }
  HRESULT STDMETHODCALLTYPE GetToolCallIndex(UINT32* index) noexcept override {
    return Refuse("IWinMLConversationOutputEvent::GetToolCallIndex", index, "index");
  }
  HRESULT STDMETHODCALLTYPE GetCallId(LPCWSTR* callId) noexcept override {
    return Refuse("IWinMLConversationOutputEvent::GetCallId", callId, "callId");
  }
  HRESULT STDMETHODCALLTYPE GetToolName(LPCWSTR* toolName) noexcept override {
    return Refuse("IWinMLConversationOutputEvent::GetToolName", toolName, "toolName");
  }
  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) noexcept override {
    return Refuse("IWinMLConversationOutputEvent::GetText", text, "text");
  }
  HRESULT STDMETHODCALLTYPE GetError(HRESULT* error, LPCWSTR* message) noexcept override {
    return Guard("IWinMLConversationOutputEvent::GetError", [&] {
      RequireOut(error, "error");
      RequireOut(message, "message");
      *error = code_;
      *message = message_.c_str();
    });
  }

 private:
  template <class T>
  static HRESULT Refuse(const char* method, T* out, const char* name) noexcept {
    return Guard(method, [&] {
      RequireOut(out, name);
      throw Error(E_NOT_VALID_STATE, "an event of the type ERROR has code and message only");
    });
  }

  const HRESULT code_;
  const std::wstring message_;
};

}  // namespace

ComPtr<IWinMLConversationOutputEvent> MakeCompletionEvent(ComPtr<IWinMLConversationOutputEvent> inner,
                                                          SourceTokens source) {
  return Make<CompletionEvent>(std::move(inner), std::move(source));
}

ComPtr<IWinMLConversationOutputEvent> MakeErrorEvent(HRESULT code, const std::string& message) {
  return Make<ErrorEvent>(code, ToWide(message));
}

}  // namespace owml
