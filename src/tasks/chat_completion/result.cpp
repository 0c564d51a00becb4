// Immutable data and getters.
// See result.h.
#include "tasks/chat_completion/result.h"

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

class Result final : public Implements<Result, IWinMLChatCompletionResult> {
 public:
  explicit Result(const CompletionOutcome& outcome) : outcome_(outcome) {}

  // Spec-open: an answer without content has an empty one, not null.
  HRESULT STDMETHODCALLTYPE GetContent(LPCWSTR* content) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetContent", [&] {
      RequireOut(content, "content");
      *content = outcome_.content.c_str();
    });
  }

  HRESULT STDMETHODCALLTYPE GetReasoningContent(LPCWSTR* reasoningContent) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetReasoningContent", [&] {
      RequireOut(reasoningContent, "reasoningContent");
      *reasoningContent = outcome_.reasoning.c_str();
    });
  }

  HRESULT STDMETHODCALLTYPE GetToolCallCount(UINT32* count) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetToolCallCount", [&] {
      RequireOut(count, "count");
      *count = static_cast<UINT32>(outcome_.tool_calls.size());
    });
  }

  HRESULT STDMETHODCALLTYPE GetToolCall(UINT32 index, LPCWSTR* id, LPCWSTR* name,
                                        LPCWSTR* argumentsJson) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetToolCall", [&] {
      RequireOut(id, "id");
      RequireOut(name, "name");
      RequireOut(argumentsJson, "argumentsJson");
      Require(
          index < outcome_.tool_calls.size(), E_BOUNDS,
          "there is no tool call " + std::to_string(index) + " among " + std::to_string(outcome_.tool_calls.size()));
      const RecordedToolCall& call = outcome_.tool_calls[index];
      *id = call.id.c_str();
      *name = call.name.c_str();
      *argumentsJson = call.arguments.c_str();
    });
  }

  HRESULT STDMETHODCALLTYPE GetTokenCounts(UINT32* promptTokenCount, UINT32* completionTokenCount) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetTokenCounts", [&] {
      RequireOut(promptTokenCount, "promptTokenCount");
      RequireOut(completionTokenCount, "completionTokenCount");
      *promptTokenCount = outcome_.cache.promptTokenCount;
      *completionTokenCount = outcome_.completion_tokens;
    });
  }

  HRESULT STDMETHODCALLTYPE GetFinishReason(WINML_CHAT_COMPLETION_FINISH_REASON* reason) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetFinishReason", [&] {
      RequirePointer(reason, "reason");
      *reason = outcome_.reason;
    });
  }

  // The sentence of a failed completion becomes the thread's error object once more.
  HRESULT STDMETHODCALLTYPE GetErrorCode(HRESULT* error) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetErrorCode", [&] {
      RequireOut(error, "error");
      *error = outcome_.error;
      if (FAILED(outcome_.error)) SetThreadError(outcome_.error, "chat completion", outcome_.sentence);
    });
  }

  HRESULT STDMETHODCALLTYPE GetTextGenerationResult(IWinMLTextGenerationResult** result) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetTextGenerationResult", [&] {
      RequireOut(result, "result");
      Require(outcome_.text != nullptr, E_NOT_VALID_STATE,
              "the completion failed before the text generation came to a result");
      *result = AddedRef(outcome_.text.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GetPromptCacheUse(WINML_CHAT_COMPLETION_PROMPT_CACHE* cache) noexcept override {
    return Guard("IWinMLChatCompletionResult::GetPromptCacheUse", [&] {
      RequirePointer(cache, "cache");
      *cache = outcome_.cache;
    });
  }

 private:
  const CompletionOutcome outcome_;
};

}  // namespace

ComPtr<IWinMLChatCompletionResult> MakeCompletionResult(const CompletionOutcome& outcome) {
  return Make<Result>(outcome);
}

}  // namespace owml
