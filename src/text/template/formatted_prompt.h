// What formatting a conversation gives: the prompt, and what is known about the reply to it.
// Made by the three formatters; encoded and handed out by src/conversation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/constraint/constraint_request.h"
#include "text/template/conversation.h"
#include "text/template/rendered_text.h"
#include "text/template/reply_parser.h"

namespace owml::text {

struct FormattedPrompt {
  RenderedText prompt;
  // The end of the prompt that opens the reply, with the text to continue; empty when there is neither.
  std::string generation_prompt;
  bool generation_prompt_added = false;
  Continuation continuation = Continuation::kNone;  // never kAuto

  std::vector<std::string> additional_stops;
  std::optional<ConstraintRequest> constraint;
  std::vector<std::string> preserved_tokens;
  std::shared_ptr<const ReplySyntax> syntax;
  std::string formatter;  // for identities: "portable-jinja", ...
};

// A constraint over the whole reply, from the response schema, the grammar or the regular expression, if one is set.
void SetPlainConstraint(const Conversation& conversation, FormattedPrompt* formatted);

}  // namespace owml::text
