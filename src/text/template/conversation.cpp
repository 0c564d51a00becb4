// Size of a conversation.
// Called where bounds are set.
#include "text/template/conversation.h"

namespace owml::text {

size_t Conversation::size() const {
  size_t bytes = grammar.size() + regex.size() + (response_schema ? response_schema->text.size() : 0);
  for (const ConversationMessage& message : messages) {
    bytes += 64 + message.role.size() + message.content.value_or("").size() + message.reasoning.value_or("").size();
    bytes += message.tool_call_id.size() + message.tool_name.size();
    for (const ContentPart& part : message.parts) bytes += 64 + part.type.size() + part.text.size();
    for (const ToolCall& call : message.tool_calls) {
      bytes += 64 + call.id.size() + call.name.size() + call.arguments.size();
    }
  }
  for (const ToolDefinition& tool : tools) {
    bytes += 64 + tool.name.size() + tool.description.size() + tool.parameters.text.size();
  }
  for (const auto& [name, value] : values) {
    bytes += 64 + name.size();
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
    if (const auto* json = std::get_if<JsonText>(&value)) bytes += json->text.size();
  }
  return bytes;
}

}  // namespace owml::text
