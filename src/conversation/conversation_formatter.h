// Formats conversations for one tokenizer: checks a request, renders the chat template, encodes the result.
// Owned by the tokenizer object, which offers its two interfaces.
#pragma once

#include <WinMLConversation.h>

#include <memory>
#include <string>
#include <vector>

#include "conversation/chat_template.h"
#include "conversation/vocabulary.h"

namespace owml {

struct FormattedConversation {
  std::vector<uint32_t> token_ids;
  std::string generation_prompt;  // empty when none was asked for
  bool generation_prompt_added = false;
  std::string identity;
};

class ConversationFormatter {
 public:
  explicit ConversationFormatter(std::shared_ptr<const Vocabulary> vocabulary);

  // Throws E_POINTER, E_INVALIDARG, ERROR_NOT_SUPPORTED naming the field, or what rendering throws.
  FormattedConversation Format(const WINML_CONVERSATION_REQUEST& request) const;
  std::vector<uint32_t> Encode(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt) const;

 private:
  FormattedConversation Format(const TemplateInput& input) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  ChatTemplate template_;
};

}  // namespace owml
