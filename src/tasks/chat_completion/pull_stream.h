// IWinMLChatCompletionPullStream over one completion.
// Made by a session for each operation; belongs to the session's thread.
#pragma once

#include <memory>

#include "com/com_ptr.h"
#include "com/thread_binding.h"
#include "tasks/chat_completion/completion.h"

namespace owml {

// The stream owns the completion: when its last reference goes, an unfinished one is abandoned.
ComPtr<IWinMLChatCompletionPullStream> MakeChatPullStream(const ThreadBinding& thread,
                                                          std::unique_ptr<Completion> completion);

}  // namespace owml
