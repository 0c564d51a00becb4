// One completion: generated text through stop texts and parser, an event for each call, until nothing more comes.
// Owned by its stream.
#pragma once

#include <WinMLTasks.h>

#include <vector>

#include "tasks/chat_completion/answer_record.h"
#include "tasks/chat_completion/completion_event.h"
#include "tasks/chat_completion/prepared_request.h"
#include "tasks/chat_completion/prompt_start.h"
#include "tasks/chat_completion/stop_texts.h"

namespace owml {

// What is known at the end.
struct CompletionOutcome {
  std::wstring content;
  std::wstring reasoning;
  std::vector<RecordedToolCall> tool_calls;
  WINML_CHAT_COMPLETION_FINISH_REASON reason = WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
  HRESULT error = S_OK;
  std::string sentence;  // of the error
  uint32_t completion_tokens = 0;
  WINML_CHAT_COMPLETION_PROMPT_CACHE cache = {};
  ComPtr<IWinMLTextGenerationResult> text;  // null when the text session gave none
};

class Completion {
 public:
  // `stop` ends the text generation from here; needed when there are stop texts. `session` is asked at the end what it
  // has evaluated.
  Completion(PreparedRequest request, StartedPrompt start, ComPtr<IWinMLCancellationSource> stop,
             IWinMLTextGenerationSession* session);

  // Null at the end, for whatever reason. Never throws.
  ComPtr<IWinMLConversationOutputEvent> Next() noexcept;

  bool completed() const { return phase_ == Phase::kCompleted; }
  bool running() const { return in_next_; }

  // After completion.
  const CompletionOutcome& outcome() const { return outcome_; }

  const PreparedRequest& request() const { return request_; }
  IWinMLTextGenerationPullStream* text_stream() const { return start_.stream.Get(); }

 private:
  enum class Phase { kText, kParser, kCompleted };

  ComPtr<IWinMLConversationOutputEvent> Advance();
  // Null when the parser has none now.
  ComPtr<IWinMLConversationOutputEvent> ReadParser();
  ComPtr<IWinMLConversationOutputEvent> Fail(HRESULT code, const std::string& sentence) noexcept;
  // One token, or the end of the text.
  void ReadText();
  bool ReadToken(std::wstring* fragment);
  void EndText();
  void TakeTextError();
  void Append(const std::wstring& text);
  // What is unattributed goes to the event that is given out now.
  SourceTokens TakeSource();
  void Complete();
  WINML_CHAT_COMPLETION_PROMPT_CACHE CacheUse() const noexcept;

  const PreparedRequest request_;
  const StartedPrompt start_;
  const ComPtr<IWinMLCancellationSource> stop_;
  const ComPtr<IWinMLTextGenerationSession> session_;
  StopTexts stops_;
  AnswerRecord record_;
  std::vector<uint32_t> tokens_;  // generated
  size_t attributed_ = 0;         // of them, to events
  Phase phase_ = Phase::kText;
  bool in_next_ = false;
  WINML_TEXT_GENERATION_FINISH_REASON text_reason_ = WINML_TEXT_GENERATION_FINISH_REASON_ERROR;
  CompletionOutcome outcome_;
};

}  // namespace owml
