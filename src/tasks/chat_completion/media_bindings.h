// Which tensor belongs to which image part of a conversation.
// Checked by the chat session before anything is formatted.
#pragma once

#include <WinMLChatCompletionTask.h>

#include <span>

namespace owml {

// Throws E_POINTER for a null tensor, E_INVALIDARG for a place that is out of range or bound twice, a part that is no
// image or says more than that, and an image without a binding.
void CheckMediaBindings(const WINML_CONVERSATION_REQUEST& request, std::span<const WINML_CHAT_MEDIA_BINDING> bindings);

}  // namespace owml
