// Conversations as the JSON that chat templates are written for.
// Used by the portable formatter mode and by the chat formats.
#pragma once

#include <string>

#include "text/template/conversation.h"

namespace owml::text {

enum class ArgumentsForm : uint8_t {
  kObject,  // as transformers gives them
  kText,    // as they travel between servers
};

// {"messages": [...], "tools": [...], ...} with the values, switches and tools that are set.
std::string TemplateVariables(const Conversation& conversation, bool content_as_parts, ArgumentsForm arguments);

// {"name": ..., "description": ..., "parameters": ...} inside {"type": "function", "function": ...}; an array.
std::string ToolsJson(const std::vector<ToolDefinition>& tools);

// The value as JSON.
std::string ValueJson(const TemplateValue& value);

}  // namespace owml::text
