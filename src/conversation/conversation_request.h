// Reading WINML_CONVERSATION_REQUEST: every field is checked, and one that is not supported is refused by name.
// Called by the conversation formatter.
#pragma once

#include <WinMLConversation.h>

#include "text/template/conversation.h"

namespace owml {

// Throws E_POINTER, E_INVALIDARG or ERROR_NOT_SUPPORTED with a sentence that names the field.
text::Conversation ReadRequest(const WINML_CONVERSATION_REQUEST& request);

// The short form: role and content, both required.
text::Conversation ReadMessages(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt);

}  // namespace owml
