// IWinMLChatCompletionTask: a tokenizer with a chat template, and the way to sessions.
// Made by the factory; good for any thread.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"

namespace owml {

// Throws E_NOINTERFACE when the tokenizer formats no conversations.
ComPtr<IWinMLChatCompletionTask> MakeChatCompletionTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer);

}  // namespace owml
