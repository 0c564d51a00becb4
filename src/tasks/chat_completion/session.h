// IWinMLChatCompletionSession: a tokenizer's formatter on a text session.
// Made by a task; belongs to the thread that made it.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLChatCompletionSession> MakeChatSession(IWinMLTokenizer* tokenizer,
                                                    IWinMLTextGenerationSession* text_session);

}  // namespace owml
