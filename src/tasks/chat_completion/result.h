// IWinMLChatCompletionResult: what a finished completion produced, for any thread and for ever.
// Made by the stream when it has completed.
#pragma once

#include "com/com_ptr.h"
#include "tasks/chat_completion/completion.h"

namespace owml {

ComPtr<IWinMLChatCompletionResult> MakeCompletionResult(const CompletionOutcome& outcome);

}  // namespace owml
