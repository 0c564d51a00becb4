// Constraints that do not depend on a call format.
// Called by the formatters.
#include "text/template/formatted_prompt.h"

namespace owml::text {

void SetPlainConstraint(const Conversation& conversation, FormattedPrompt* formatted) {
  ConstraintRequest request;
  if (conversation.response_schema) {
    request.syntax = ConstraintRequest::kJsonSchema;
    request.value = conversation.response_schema->text;
  } else if (!conversation.grammar.empty()) {
    request.syntax = ConstraintRequest::kGbnf;
    request.value = conversation.grammar;
  } else if (!conversation.regex.empty()) {
    request.syntax = ConstraintRequest::kRegex;
    request.value = conversation.regex;
  } else {
    return;
  }
  formatted->constraint = std::move(request);
}

}  // namespace owml::text
