// Starts the text generation of a prompt on what the session still holds of it.
// Used by the chat session; knows the text session by its public interfaces only.
#pragma once

#include <WinMLTasks.h>

#include <span>

#include "com/com_ptr.h"

namespace owml {

struct StartedPrompt {
  ComPtr<IWinMLTextGenerationPullStream> stream;
  UINT32 cached_tokens = 0;  // of the prompt, not evaluated again
};

// What the prompt shares with the retained sequence is kept, except for the last token of the prompt, whose logits are
// needed. `constraint`, `options` and `cancellation` may be null. Throws what the session answers.
StartedPrompt StartPrompt(IWinMLTextGenerationSession* session, std::span<const UINT32> prompt,
                          IWinMLTokenConstraint* constraint, IWinMLTextGenerationOptions* options,
                          IWinMLCancellationSource* cancellation);

}  // namespace owml
