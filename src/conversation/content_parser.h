// The plain output parser: everything a model says is content.
// Made by a format result; one for each generation.
#pragma once

#include <WinMLConversation.h>

#include <deque>

#include "com/implements.h"

namespace owml {

class ContentParser final : public Implements<ContentParser, IWinMLConversationOutputParser> {
 public:
  HRESULT STDMETHODCALLTYPE Append(LPCWSTR text) noexcept override;
  HRESULT STDMETHODCALLTYPE Flush() noexcept override;
  HRESULT STDMETHODCALLTYPE ReadEvent(WINML_CONVERSATION_OUTPUT_READ_STATUS* status,
                                      IWinMLConversationOutputEvent** outputEvent) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

 private:
  std::deque<ComPtr<IWinMLConversationOutputEvent>> events_;
  bool flushed_ = false;
};

}  // namespace owml
