// What a template's source says about the conversations it is made for.
// Used by the formatters to refuse what would be ignored, and to tell roles from text.
#pragma once

#include <set>
#include <string>

#include "text/template/conversation.h"

namespace owml::text {

// Whether the name occurs in the template as a whole word.
bool Mentions(const std::string& source, const std::string& name);

// Roles of the conversation that count as the template's own words: the five usual ones, and plain words that the
// template writes between quotes. Others are text, even between the brackets of a control token.
std::set<std::string> TrustedRoles(const std::string& source, const Conversation& conversation);

// The continuation that is asked for; kAuto becomes kReasoning for a last message with reasoning only. E_INVALIDARG
// when the last message is none of the assistant or has nothing to continue.
Continuation ResolveContinuation(const Conversation& conversation);

// A byte that occurs in none of the conversation's texts nor in the source, other than `other`. E_INVALIDARG when
// control characters are used up.
char UnusedByte(const std::string& source, const Conversation& conversation, char other = 0);

}  // namespace owml::text
