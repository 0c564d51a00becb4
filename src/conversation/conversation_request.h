// Reading WINML_CONVERSATION_REQUEST: every field is checked, and one that is not supported is refused by name.
// Called by the conversation formatter.
#pragma once

#include <WinMLConversation.h>

#include "conversation/chat_template.h"

namespace owml {

// Throws E_POINTER, E_INVALIDARG or ERROR_NOT_SUPPORTED with a sentence that names the field.
TemplateInput ReadRequest(const WINML_CONVERSATION_REQUEST& request);

// The short form: role and content, both required.
TemplateInput ReadMessages(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt);

}  // namespace owml
