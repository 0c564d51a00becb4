// Events of a completion: those of the parser with the tokens they came from, and errors that are not the parser's.
// Made by a completion as it is read.
#pragma once

#include <WinMLChatCompletionTask.h>
#include <WinMLConversation.h>

#include <string>
#include <vector>

#include "com/com_ptr.h"

namespace owml {

// Generated tokens, in a row.
struct SourceTokens {
  uint32_t first = 0;  // position among the generated tokens
  std::vector<uint32_t> ids;
};

// Answers as `inner` does, and IWinMLChatCompletionEventProvenance.
ComPtr<IWinMLConversationOutputEvent> MakeCompletionEvent(ComPtr<IWinMLConversationOutputEvent> inner,
                                                          SourceTokens source);

// An event of the type ERROR.
ComPtr<IWinMLConversationOutputEvent> MakeErrorEvent(HRESULT code, const std::string& message);

}  // namespace owml
