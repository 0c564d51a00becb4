// The loop of a completion, one event a call. Events are read from the parser as they are asked for, so that a parser
// without end cannot fill the memory.
// See completion.h.
#include "tasks/chat_completion/completion.h"

#include <algorithm>
#include <utility>

#include "com/guard.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

constexpr const char* kParser = "the output parser";
constexpr const char* kStream = "the text stream";

struct Flag {
  explicit Flag(bool& its_flag) : flag(its_flag) { flag = true; }
  ~Flag() { flag = false; }
  bool& flag;
};

// Ended before the model wanted to, so that what the parser has seen may be half of something.
bool CutShort(WINML_TEXT_GENERATION_FINISH_REASON reason) {
  return reason == WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS ||
         reason == WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY ||
         reason == WINML_TEXT_GENERATION_FINISH_REASON_CANCELED;
}

WINML_CHAT_COMPLETION_FINISH_REASON ReasonOf(WINML_TEXT_GENERATION_FINISH_REASON reason) {
  switch (reason) {
    case WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN:
      return WINML_CHAT_COMPLETION_FINISH_REASON_EOS_TOKEN;
    case WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN:
      return WINML_CHAT_COMPLETION_FINISH_REASON_STOP_TOKEN;
    case WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS:
      return WINML_CHAT_COMPLETION_FINISH_REASON_MAX_TOKENS;
    case WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY:
      return WINML_CHAT_COMPLETION_FINISH_REASON_SEQUENCE_CAPACITY;
    case WINML_TEXT_GENERATION_FINISH_REASON_CANCELED:
      return WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED;
    case WINML_TEXT_GENERATION_FINISH_REASON_ERROR:
      return WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
  }
  throw Error(E_UNEXPECTED, "the text session ended for the unknown reason " + std::to_string(reason));
}

}  // namespace

Completion::Completion(PreparedRequest request, StartedPrompt start, ComPtr<IWinMLCancellationSource> stop,
                       IWinMLTextGenerationSession* session)
    : request_(std::move(request)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      session_(session),
      stops_(request_.stops) {}

ComPtr<IWinMLConversationOutputEvent> Completion::Next() noexcept {
  const Flag flag(in_next_);
  if (completed()) return nullptr;
  constexpr const char* kMethod = "IWinMLChatCompletionPullStream::ReadNext";
  try {
    return Advance();
  } catch (const std::exception& error) {
    const HRESULT code = TranslateCurrentException(kMethod);
    return Fail(code, error.what());
  } catch (...) {
    return Fail(TranslateCurrentException(kMethod), "");
  }
}

ComPtr<IWinMLConversationOutputEvent> Completion::Advance() {
  while (true) {
    if (auto event = ReadParser()) return event;
    if (phase_ == Phase::kText) {
      ReadText();
    } else if (FAILED(outcome_.error)) {
      return Fail(outcome_.error, std::string(outcome_.sentence));
    } else {
      Complete();
      return nullptr;
    }
  }
}

// The text generation is given up with its stream; what it has consumed stays known to the session.
ComPtr<IWinMLConversationOutputEvent> Completion::Fail(HRESULT code, const std::string& sentence) noexcept {
  ComPtr<IWinMLConversationOutputEvent> event;
  if (!outcome_.text) start_.stream->Close();
  try {
    outcome_.sentence = sentence;
    outcome_.content = record_.content();
    outcome_.reasoning = record_.reasoning();
    outcome_.tool_calls = record_.ToolCalls();
    event = MakeCompletionEvent(MakeErrorEvent(code, sentence), TakeSource());
  } catch (...) {
    event.Reset();  // the code is what counts
  }
  outcome_.error = code;
  outcome_.reason = WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
  outcome_.completion_tokens = static_cast<uint32_t>(tokens_.size());
  outcome_.cache = CacheUse();
  phase_ = Phase::kCompleted;
  return event;
}

ComPtr<IWinMLConversationOutputEvent> Completion::ReadParser() {
  auto status = WINML_CONVERSATION_OUTPUT_READ_STATUS_EMPTY;
  ComPtr<IWinMLConversationOutputEvent> event;
  ClearThreadError();
  CheckResult(request_.parser->ReadEvent(&status, event.GetAddressOf()), kParser, "ReadEvent");
  if (status == WINML_CONVERSATION_OUTPUT_READ_STATUS_EMPTY) return nullptr;
  Require(event != nullptr, E_UNEXPECTED, "the output parser: ReadEvent told of an event and gave none");
  auto type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
  ClearThreadError();
  CheckResult(event->GetType(&type), kParser, "IWinMLConversationOutputEvent::GetType");
  record_.Add(event.Get(), type);
  return MakeCompletionEvent(std::move(event), TakeSource());
}

void Completion::ReadText() {
  std::wstring fragment;
  if (!ReadToken(&fragment)) {
    EndText();
    return;
  }
  Append(stops_.Push(fragment));
  if (!stops_.stopped()) return;
  stop_->Cancel();
  while (ReadToken(&fragment)) {
  }
  EndText();
}

bool Completion::ReadToken(std::wstring* fragment) {
  auto status = WINML_TEXT_GENERATION_READ_STATUS_COMPLETED;
  UINT32 token = 0;
  LPCWSTR text = nullptr;
  ClearThreadError();
  CheckResult(start_.stream->ReadNext(&status, &token, &text), kStream, "ReadNext");
  if (status == WINML_TEXT_GENERATION_READ_STATUS_COMPLETED) return false;
  *fragment = text ? text : L"";
  tokens_.push_back(token);
  // A decoder shows no special tokens; the parser has to see some of them.
  for (const PreservedToken& preserved : request_.preserved) {
    if (preserved.id == token && fragment->find(preserved.text) == std::wstring::npos) *fragment += preserved.text;
  }
  return true;
}

void Completion::EndText() {
  ClearThreadError();
  CheckResult(start_.stream->GetResult(outcome_.text.ReleaseAndGetAddressOf()), kStream, "GetResult");
  Require(outcome_.text != nullptr, E_UNEXPECTED, "the text stream: GetResult succeeded without a result");
  ClearThreadError();
  CheckResult(outcome_.text->GetFinishReason(&text_reason_), kStream, "IWinMLTextGenerationResult::GetFinishReason");
  Append(stops_.TakeRest());
  phase_ = Phase::kParser;
  if (text_reason_ == WINML_TEXT_GENERATION_FINISH_REASON_ERROR) {
    TakeTextError();  // told when the parser has given what the model said before
    return;
  }
  ClearThreadError();
  CheckResult(request_.parser->Flush(), kParser, "Flush");
}

void Completion::TakeTextError() {
  HRESULT error = S_OK;
  ClearThreadError();
  CheckResult(outcome_.text->GetErrorCode(&error), kStream, "IWinMLTextGenerationResult::GetErrorCode");
  try {
    ThrowResult(FAILED(error) ? error : E_UNEXPECTED, "generating the answer");
  } catch (const Error& sentence) {
    outcome_.sentence = sentence.what();
    outcome_.error = sentence.code();
  }
}

void Completion::Append(const std::wstring& text) {
  if (text.empty()) return;
  ClearThreadError();
  CheckResult(request_.parser->Append(text.c_str()), kParser, "Append");
}

SourceTokens Completion::TakeSource() {
  SourceTokens source;
  source.first = static_cast<uint32_t>(attributed_);
  source.ids.assign(tokens_.begin() + static_cast<ptrdiff_t>(attributed_), tokens_.end());
  attributed_ = tokens_.size();
  return source;
}

// Spec-open: a parser that complains about an answer that a limit or the application cut short does not turn the reason
// into ERROR; its event has told.
void Completion::Complete() {
  outcome_.content = record_.content();
  outcome_.reasoning = record_.reasoning();
  outcome_.tool_calls = record_.ToolCalls();
  outcome_.completion_tokens = static_cast<uint32_t>(tokens_.size());
  outcome_.reason = stops_.stopped() ? WINML_CHAT_COMPLETION_FINISH_REASON_ADDITIONAL_STOP : ReasonOf(text_reason_);
  if (FAILED(record_.error()) && (stops_.stopped() || !CutShort(text_reason_))) {
    outcome_.reason = WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
    outcome_.error = record_.error();
    outcome_.sentence = record_.sentence();
  }
  outcome_.cache = CacheUse();
  phase_ = Phase::kCompleted;
}

// Without a generated token, what the session holds now tells whether the prompt was evaluated.
WINML_CHAT_COMPLETION_PROMPT_CACHE Completion::CacheUse() const noexcept {
  WINML_CHAT_COMPLETION_PROMPT_CACHE use = {};
  use.promptTokenCount = static_cast<UINT32>(request_.prompt.size());
  bool evaluated = !tokens_.empty();
  if (!evaluated) {
    const auto disclosure = Query<IWinMLTextGenerationSequenceDisclosure>(session_.Get());
    TokenArray retained;
    if (!disclosure || FAILED(disclosure->GetRetainedTokenIds(retained.count(), retained.ids()))) {
      use.mode = WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_UNKNOWN;
      return use;
    }
    evaluated = *retained.count() == use.promptTokenCount && *retained.ids() &&
                std::equal(request_.prompt.begin(), request_.prompt.end(), *retained.ids());
  }
  if (!evaluated) {
    use.mode = WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_NOT_EVALUATED;
    return use;
  }
  use.mode = start_.cached_tokens == 0 ? WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_FULL_PREFILL
                                       : WINML_CHAT_COMPLETION_PROMPT_CACHE_MODE_REUSED_PREFIX;
  use.cachedPromptTokenCount = start_.cached_tokens;
  use.prefilledPromptTokenCount = use.promptTokenCount - start_.cached_tokens;
  return use;
}

}  // namespace owml
