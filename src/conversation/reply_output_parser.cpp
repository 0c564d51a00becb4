// A queue of events over a parser without COM.
// Fed with decoded fragments, which are whole characters.
#include "conversation/reply_output_parser.h"

#include <utility>

#include "com/guard.h"
#include "com/wide.h"
#include "conversation/output_event.h"

namespace owml {

ReplyOutputParser::ReplyOutputParser(std::shared_ptr<const text::ReplySyntax> syntax)
    : syntax_(std::move(syntax)), parser_(syntax_->CreateParser()) {}

void ReplyOutputParser::Queue(const std::vector<text::ReplyEvent>& events) {
  for (const text::ReplyEvent& event : events) events_.push_back(Make<OutputEvent>(event));
}

HRESULT ReplyOutputParser::Append(LPCWSTR text) noexcept {
  return Guard("IWinMLConversationOutputParser::Append", [&] {
    RequirePointer(text, "text");
    Require(!flushed_, E_NOT_VALID_STATE, "the parser was flushed; Reset begins another generation");
    if (!*text) return;
    std::vector<text::ReplyEvent> events;
    parser_->Append(ToUtf8(text), &events);
    Queue(events);
  });
}

HRESULT ReplyOutputParser::Flush() noexcept {
  return Guard("IWinMLConversationOutputParser::Flush", [&] {
    if (flushed_) return;
    flushed_ = true;
    std::vector<text::ReplyEvent> events;
    parser_->Finish(&events);
    Queue(events);
  });
}

HRESULT ReplyOutputParser::ReadEvent(WINML_CONVERSATION_OUTPUT_READ_STATUS* status,
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

HRESULT ReplyOutputParser::Reset() noexcept {
  return Guard("IWinMLConversationOutputParser::Reset", [&] {
    parser_ = syntax_->CreateParser();
    events_.clear();
    flushed_ = false;
  });
}

}  // namespace owml
