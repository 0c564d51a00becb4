// The output parser object: text of a reply in, events out.
// Made by a format result; one for each generation.
#pragma once

#include <WinMLConversation.h>

#include <deque>
#include <memory>
#include <vector>

#include "com/implements.h"
#include "text/template/reply_parser.h"

namespace owml {

class ReplyOutputParser final : public Implements<ReplyOutputParser, IWinMLConversationOutputParser> {
 public:
  explicit ReplyOutputParser(std::shared_ptr<const text::ReplySyntax> syntax);

  HRESULT STDMETHODCALLTYPE Append(LPCWSTR text) noexcept override;
  HRESULT STDMETHODCALLTYPE Flush() noexcept override;
  HRESULT STDMETHODCALLTYPE ReadEvent(WINML_CONVERSATION_OUTPUT_READ_STATUS* status,
                                      IWinMLConversationOutputEvent** outputEvent) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

 private:
  void Queue(const std::vector<text::ReplyEvent>& events);

  std::shared_ptr<const text::ReplySyntax> syntax_;
  std::unique_ptr<text::ReplyParser> parser_;
  std::deque<ComPtr<IWinMLConversationOutputEvent>> events_;
  bool flushed_ = false;
};

}  // namespace owml
