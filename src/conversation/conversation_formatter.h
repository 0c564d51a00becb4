// Formats conversations for one tokenizer: checks a request, lets a formatter of its mode write the prompt, encodes it.
// Owned by the tokenizer object, which offers its two interfaces.
#pragma once

#include <WinMLConversation.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conversation/vocabulary.h"
#include "text/template/formatted_prompt.h"
#include "text/template/legacy_formatter.h"
#include "text/template/model_formatter.h"
#include "text/template/portable_formatter.h"

namespace owml {

struct FormattedConversation {
  std::vector<uint32_t> token_ids;
  std::string generation_prompt;
  bool generation_prompt_added = false;
  text::Continuation continuation = text::Continuation::kNone;
  std::vector<std::string> additional_stops;
  std::optional<text::ConstraintRequest> constraint;
  std::vector<text::PreservedToken> preserved_tokens;
  std::shared_ptr<const text::ReplySyntax> syntax;
  std::string identity;
};

class ConversationFormatter {
 public:
  explicit ConversationFormatter(std::shared_ptr<const Vocabulary> vocabulary);

  // Throws E_POINTER, E_INVALIDARG, ERROR_NOT_SUPPORTED naming the field, or what rendering throws.
  FormattedConversation Format(const WINML_CONVERSATION_REQUEST& request) const;
  std::vector<uint32_t> Encode(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt) const;

 private:
  text::FormattedPrompt Write(WINML_CONVERSATION_FORMATTER_MODE mode, const text::Conversation& conversation) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string template_sha256_;

  // Made when a mode is first asked for; a template that one of them cannot use may be good for another.
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const text::ModelFormatter> model_;
  mutable std::unique_ptr<const text::PortableFormatter> portable_;
  mutable std::unique_ptr<const text::LegacyFormatter> legacy_;
};

}  // namespace owml
