// Members in the order in which Hugging Face's own code writes them, since templates may dump whole objects.
// Called once or twice for each rendering.
#include "text/template/conversation_json.h"

#include <nlohmann/json.hpp>

namespace owml::text {
namespace {

using Json = nlohmann::ordered_json;

Json PartsJson(const std::vector<ContentPart>& parts) {
  Json list = Json::array();
  for (const ContentPart& part : parts) {
    Json item = {{"type", part.type}};
    if (part.type == "text") item["text"] = part.text;
    list.push_back(std::move(item));
  }
  return list;
}

// Spec-open: text parts for a template that takes plain strings only are joined by a line break.
std::string JoinedText(const std::vector<ContentPart>& parts) {
  std::string joined;
  for (const ContentPart& part : parts) {
    if (&part != &parts.front()) joined += '\n';
    joined += part.text;
  }
  return joined;
}

Json CallJson(const ToolCall& call, ArgumentsForm form) {
  Json arguments = call.arguments;
  if (form == ArgumentsForm::kObject && call.arguments_are_json) arguments = Json::parse(call.arguments);
  Json item = {{"type", "function"}, {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}};
  if (!call.id.empty()) item["id"] = call.id;
  return item;
}

Json MessageJson(const ConversationMessage& message, bool content_as_parts, ArgumentsForm form) {
  Json item = {{"role", message.role}};
  const std::string text = message.parts.empty() ? message.content.value_or("") : JoinedText(message.parts);
  if (content_as_parts) {
    item["content"] = message.parts.empty() ? PartsJson({ContentPart{"text", text}}) : PartsJson(message.parts);
  } else {
    item["content"] = text;
  }
  if (message.reasoning) item["reasoning_content"] = *message.reasoning;
  if (!message.tool_calls.empty()) {
    Json calls = Json::array();
    for (const ToolCall& call : message.tool_calls) calls.push_back(CallJson(call, form));
    item["tool_calls"] = std::move(calls);
  }
  if (!message.tool_call_id.empty()) item["tool_call_id"] = message.tool_call_id;
  if (!message.tool_name.empty()) item["name"] = message.tool_name;
  return item;
}

Json ToolArray(const std::vector<ToolDefinition>& tools) {
  Json list = Json::array();
  for (const ToolDefinition& tool : tools) {
    Json function = {{"name", tool.name}, {"description", tool.description}};
    function["parameters"] = Json::parse(tool.parameters.text);
    list.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return list;
}

Json AnyValue(const TemplateValue& value) {
  if (const auto* json = std::get_if<JsonText>(&value)) return Json::parse(json->text);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  return std::get<double>(value);
}

// Text that is no UTF-8 was repaired before; the rest of a lone surrogate would otherwise stop a rendering.
std::string Dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string TemplateVariables(const Conversation& conversation, bool content_as_parts, ArgumentsForm arguments) {
  Json variables = Json::object();
  Json messages = Json::array();
  for (const ConversationMessage& message : conversation.messages) {
    messages.push_back(MessageJson(message, content_as_parts, arguments));
  }
  variables["messages"] = std::move(messages);
  // As transformers does: `none` rather than undefined without tools.
  variables["tools"] = conversation.tools.empty() ? Json() : ToolArray(conversation.tools);
  variables["documents"] = Json();
  variables["add_generation_prompt"] = conversation.add_generation_prompt;
  if (conversation.enable_thinking) variables["enable_thinking"] = *conversation.enable_thinking;
  for (const auto& [name, value] : conversation.values) variables[name] = AnyValue(value);
  return Dumped(variables);
}

std::string ToolsJson(const std::vector<ToolDefinition>& tools) { return Dumped(ToolArray(tools)); }

std::string ValueJson(const TemplateValue& value) { return Dumped(AnyValue(value)); }

}  // namespace owml::text
