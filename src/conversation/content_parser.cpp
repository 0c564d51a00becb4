// Queue of content events, closed by one COMPLETED.
// Fed with decoded fragments, which are whole characters.
#include "conversation/content_parser.h"

#include "com/guard.h"
#include "conversation/output_event.h"

namespace owml {

HRESULT ContentParser::Append(LPCWSTR text) noexcept {
  return Guard("IWinMLConversationOutputParser::Append", [&] {
    RequirePointer(text, "text");
    Require(!flushed_, E_NOT_VALID_STATE, "the parser was flushed; Reset begins another generation");
    if (*text) events_.push_back(Make<OutputEvent>(WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA, text));
  });
}

HRESULT ContentParser::Flush() noexcept {
  return Guard("IWinMLConversationOutputParser::Flush", [&] {
    if (flushed_) return;
    events_.push_back(Make<OutputEvent>(WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED));
    flushed_ = true;
  });
}

HRESULT ContentParser::ReadEvent(WINML_CONVERSATION_OUTPUT_READ_STATUS* status,
                                 IWinMLConversationOutputEvent** outputEvent) noexcept {
  return Guard("IWinMLConversationOutputParser::ReadEvent", [&] {
    RequireOut(status, "status");
    RequireOut(outputEvent, "outputEvent");
    *status = WINML_CONVERSATION_OUTPUT_READ_STATUS_EMPTY;
    if (events_.empty()) return;
    *outputEvent = events_.front().Detach();
    events_.pop_front();
    *status = WINML_CONVERSATION_OUTPUT_READ_STATUS_EVENT;
  });
}

HRESULT ContentParser::Reset() noexcept {
  return Guard("IWinMLConversationOutputParser::Reset", [&] {
    events_.clear();
    flushed_ = false;
  });
}

}  // namespace owml
