// Immutable data and getters.
// See result.h.
#include "tasks/text_generation/result.h"

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

class Result final : public Implements<Result, IWinMLTextGenerationResult, IWinMLTextGenerationSpeculativeResult> {
 public:
  explicit Result(const GenerationOutcome& outcome) : outcome_(outcome) {}

  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) noexcept override {
    return Guard("IWinMLTextGenerationResult::GetText", [&] {
      RequireOut(text, "text");
      *text = outcome_.text.c_str();
    });
  }

  HRESULT STDMETHODCALLTYPE GetTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override {
    return Guard("IWinMLTextGenerationResult::GetTokenIds",
                 [&] { HandOutTokens(outcome_.tokens, tokenCount, tokenIds); });
  }

  HRESULT STDMETHODCALLTYPE GetFinishReason(WINML_TEXT_GENERATION_FINISH_REASON* reason) noexcept override {
    return Guard("IWinMLTextGenerationResult::GetFinishReason", [&] {
      RequirePointer(reason, "reason");
      *reason = outcome_.reason;
    });
  }

  // The sentence of a failed generation becomes the thread's error object once more.
  HRESULT STDMETHODCALLTYPE GetErrorCode(HRESULT* error) noexcept override {
    return Guard("IWinMLTextGenerationResult::GetErrorCode", [&] {
      RequireOut(error, "error");
      *error = outcome_.error;
      if (FAILED(outcome_.error)) SetThreadError(outcome_.error, "text generation", outcome_.sentence);
    });
  }

  HRESULT STDMETHODCALLTYPE GetPromptTokenCount(UINT32* count) noexcept override {
    return Guard("IWinMLTextGenerationResult::GetPromptTokenCount", [&] {
      RequireOut(count, "count");
      *count = outcome_.prompt_tokens;
    });
  }

  HRESULT STDMETHODCALLTYPE
  GetSpeculativeStatistics(WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS* statistics) noexcept override {
    return Guard("IWinMLTextGenerationSpeculativeResult::GetSpeculativeStatistics", [&] {
      RequirePointer(statistics, "statistics");
      *statistics = outcome_.speculation;
    });
  }

 private:
  const GenerationOutcome outcome_;
};

}  // namespace

ComPtr<IWinMLTextGenerationResult> MakeGenerationResult(const GenerationOutcome& outcome) {
  return Make<Result>(outcome);
}

}  // namespace owml
