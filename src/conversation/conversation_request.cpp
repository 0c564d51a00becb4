// Requests of applications turned into what templates take.
// Called by the conversation formatter; strings become UTF-8 here.
#include "conversation/conversation_request.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "com/guard.h"
#include "com/wide.h"
#include "conversation/request_fields.h"

namespace owml {
namespace {

using text::Conversation;
using text::ConversationMessage;

constexpr int64_t kLatest = 253402300799;  // the last second of the year 9999

std::string Item(const std::string& list, UINT32 index) { return list + "[" + std::to_string(index) + "]"; }

bool IsVariableName(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

// Names that the formatter sets itself.
bool IsReserved(const std::string& name) {
  for (const char* reserved : {"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token",
                               "enable_thinking", "true", "false", "none", "True", "False", "None", "loop"}) {
    if (name == reserved) return true;
  }
  return false;
}

text::TemplateValue ReadValue(const WINML_CONVERSATION_TEMPLATE_VALUE& value, const std::string& field) {
  switch (value.type) {
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_BOOLEAN:
      return value.booleanValue != 0;
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_INTEGER:
      return static_cast<int64_t>(value.integerValue);
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_DOUBLE:
      return value.doubleValue;
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_STRING:
      return RequiredText(value.stringValue, field + ".stringValue");
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_JSON: {
      std::string json = RequiredText(value.jsonValue, field + ".jsonValue");
      if (!ParseJson(json)) throw Error(E_INVALIDARG, field + ".jsonValue is no JSON value with at most 64 levels");
      return text::JsonText{std::move(json)};
    }
  }
  throw Error(E_INVALIDARG, field + ".type is " + std::to_string(static_cast<int>(value.type)) + ", an unknown value");
}

void ReadValues(const WINML_CONVERSATION_REQUEST& request, Conversation* conversation) {
  CheckArray(request.templateValues, request.templateValueCount, "templateValues");
  for (UINT32 i = 0; i < request.templateValueCount; ++i) {
    const std::string field = Item("templateValues", i);
    const std::string name = RequiredText(request.templateValues[i].name, field + ".name");
    const bool taken = std::any_of(conversation->values.begin(), conversation->values.end(),
                                   [&](const auto& value) { return value.first == name; });
    if (!IsVariableName(name) || IsReserved(name) || taken)
      throw Error(E_INVALIDARG, field + ".name '" + name + "' cannot be a variable");
    conversation->values.emplace_back(name, ReadValue(request.templateValues[i], field));
  }
}

std::vector<text::ContentPart> ReadParts(const WINML_CONVERSATION_MESSAGE& message, const std::string& field) {
  std::vector<text::ContentPart> parts;
  for (UINT32 i = 0; i < message.contentPartCount; ++i) {
    const WINML_CONVERSATION_CONTENT_PART& part = message.contentParts[i];
    const std::string name = Item(field + ".contentParts", i);
    text::ContentPart read;
    read.type = RequiredText(part.type, name + ".type");
    RequireAbsent(part.modelNativeId, name + ".modelNativeId");
    RequireNoExtensions(part.extensionsJson, name + ".extensionsJson");
    RequireAbsent(part.jsonValue, name + ".jsonValue");
    if (read.type == "text") {
      read.text = RequiredText(part.text, name + ".text");
    } else if (read.type == "image") {
      if (part.text) throw Error(E_INVALIDARG, name + " is an image and has text");
    } else {
      FieldNotSupported(name + ".type '" + read.type + "'");
    }
    parts.push_back(std::move(read));
  }
  return parts;
}

text::ToolCall ReadCall(const WINML_CONVERSATION_TOOL_CALL& call, const std::string& field) {
  RequireAbsent(call.modelNativeId, field + ".modelNativeId");
  RequireNoExtensions(call.extensionsJson, field + ".extensionsJson");
  text::ToolCall read;
  read.id = OptionalText(call.id);
  read.name = RequiredText(call.name, field + ".name");
  if (read.name.empty()) throw Error(E_INVALIDARG, field + ".name is empty");
  // Spec-open: arguments of an earlier reply that are no JSON object travel on as they are, so that a conversation can
  // show a model its own mistake.
  read.arguments = call.argumentsJson ? ToUtf8(call.argumentsJson) : "{}";
  const auto parsed = ParseJson(read.arguments);
  read.arguments_are_json = parsed && parsed->is_object();
  return read;
}

ConversationMessage ReadMessage(const WINML_CONVERSATION_MESSAGE& message, const std::string& field) {
  ConversationMessage read;
  read.role = RequiredText(message.role, field + ".role");
  CheckArray(message.contentParts, message.contentPartCount, field + ".contentParts");
  CheckArray(message.toolCalls, message.toolCallCount, field + ".toolCalls");
  RequireAbsent(message.modelNativeId, field + ".modelNativeId");
  RequireNoExtensions(message.extensionsJson, field + ".extensionsJson");
  if (message.content && message.contentPartCount > 0) {
    throw Error(E_INVALIDARG, field + " has both content and contentParts");
  }
  if (message.content) read.content = ToUtf8(message.content);
  if (message.reasoningContent) read.reasoning = ToUtf8(message.reasoningContent);
  read.parts = ReadParts(message, field);
  for (UINT32 i = 0; i < message.toolCallCount; ++i) {
    read.tool_calls.push_back(ReadCall(message.toolCalls[i], Item(field + ".toolCalls", i)));
  }
  read.tool_call_id = OptionalText(message.toolCallId);
  read.tool_name = OptionalText(message.toolName);
  const bool of_assistant = read.role == "assistant";
  if (!of_assistant && !read.tool_calls.empty()) {
    throw Error(E_INVALIDARG, field + " has toolCalls, but its role is '" + read.role + "'");
  }
  if (!of_assistant && read.reasoning) {
    throw Error(E_INVALIDARG, field + " has reasoningContent, but its role is '" + read.role + "'");
  }
  const bool answers_call = !of_assistant && read.role != "user" && read.role != "system" && read.role != "developer";
  if (!answers_call && !read.tool_call_id.empty()) {
    throw Error(E_INVALIDARG, field + " has a toolCallId, but its role is '" + read.role + "'");
  }
  if (!read.content && read.parts.empty() && read.tool_calls.empty() && !read.reasoning) {
    throw Error(E_INVALIDARG, field + " has neither content nor contentParts, toolCalls or reasoningContent");
  }
  return read;
}

void ReadTools(const WINML_CONVERSATION_REQUEST& request, Conversation* conversation) {
  CheckArray(request.tools, request.toolCount, "tools");
  RequireEnum(request.toolChoice, WINML_CONVERSATION_TOOL_CHOICE_NAMED, "toolChoice");
  RequireEnum(request.parallelToolCalls, WINML_CONVERSATION_PARALLEL_TOOL_CALLS_ENABLED, "parallelToolCalls");
  const auto known = [&](const std::string& name) {
    return std::any_of(conversation->tools.begin(), conversation->tools.end(),
                       [&](const text::ToolDefinition& tool) { return tool.name == name; });
  };
  for (UINT32 i = 0; i < request.toolCount; ++i) {
    const WINML_CONVERSATION_TOOL& tool = request.tools[i];
    const std::string field = Item("tools", i);
    if (tool.type && ToUtf8(tool.type) != "function") FieldNotSupported(field + ".type '" + ToUtf8(tool.type) + "'");
    RequireAbsent(tool.modelNativeId, field + ".modelNativeId");
    RequireNoExtensions(tool.extensionsJson, field + ".extensionsJson");
    text::ToolDefinition read;
    read.name = RequiredText(tool.name, field + ".name");
    if (read.name.empty()) throw Error(E_INVALIDARG, field + ".name is empty");
    if (known(read.name)) throw Error(E_INVALIDARG, field + ".name '" + read.name + "' is taken by another tool");
    read.description = OptionalText(tool.description);
    read.parameters.text = R"({"type":"object","properties":{}})";
    if (tool.parametersJson) {
      read.parameters.text = RequiredJsonObject(tool.parametersJson, field + ".parametersJson").dump();
    }
    conversation->tools.push_back(std::move(read));
  }
  conversation->tool_choice = static_cast<text::ToolChoice>(request.toolChoice);
  if (conversation->requires_call() && conversation->tools.empty()) {
    throw Error(E_INVALIDARG, "toolChoice asks for a tool call, but there are no tools");
  }
  if (conversation->tool_choice == text::ToolChoice::kNamed) {
    conversation->named_tool = RequiredText(request.namedToolChoice, "namedToolChoice");
    if (!known(conversation->named_tool)) {
      throw Error(E_INVALIDARG, "namedToolChoice '" + conversation->named_tool + "' is none of the tools");
    }
  } else if (request.namedToolChoice) {
    throw Error(E_INVALIDARG, "namedToolChoice is set, but toolChoice does not name a tool");
  }
  if (request.parallelToolCalls != WINML_CONVERSATION_PARALLEL_TOOL_CALLS_MODEL_DEFAULT) {
    conversation->parallel_tool_calls = request.parallelToolCalls == WINML_CONVERSATION_PARALLEL_TOOL_CALLS_ENABLED;
  }
}

void ReadResponseFormat(const WINML_CONVERSATION_REQUEST& request, Conversation* conversation) {
  RequireEnum(request.responseFormat, WINML_CONVERSATION_RESPONSE_FORMAT_JSON_SCHEMA, "responseFormat");
  if (request.responseFormat == WINML_CONVERSATION_RESPONSE_FORMAT_JSON_SCHEMA) {
    // Spec-open: name and description tell applications apart; every schema is enforced strictly.
    conversation->response_schema =
        text::JsonText{RequiredJsonObject(request.responseSchemaJson, "responseSchemaJson").dump()};
    return;
  }
  const std::string end = " is set, but responseFormat is no JSON schema";
  if (request.responseSchemaJson) throw Error(E_INVALIDARG, "responseSchemaJson" + end);
  if (request.responseSchemaName) throw Error(E_INVALIDARG, "responseSchemaName" + end);
  if (request.responseSchemaDescription) throw Error(E_INVALIDARG, "responseSchemaDescription" + end);
  if (request.responseSchemaStrict) throw Error(E_INVALIDARG, "responseSchemaStrict" + end);
  if (request.responseFormat == WINML_CONVERSATION_RESPONSE_FORMAT_JSON_OBJECT) {
    conversation->response_schema = text::JsonText{R"({"type":"object"})"};
  }
}

// {"openwinml": {"grammar": "..."}} or {"openwinml": {"regex": "..."}}
void ReadExtensions(LPCWSTR extensions_json, Conversation* conversation) {
  if (!extensions_json) return;
  const auto extensions = RequiredJsonObject(extensions_json, "extensionsJson");
  for (const auto& [name, value] : extensions.items()) {
    if (name != "openwinml") FieldNotSupported("extensionsJson: the extension '" + name + "'");
    if (!value.is_object()) throw Error(E_INVALIDARG, "extensionsJson: openwinml is no object");
    for (const auto& [member, member_value] : value.items()) {
      const std::string field = "extensionsJson: openwinml." + member;
      if (member != "grammar" && member != "regex") FieldNotSupported(field);
      if (!member_value.is_string() || member_value.get<std::string>().empty()) {
        throw Error(E_INVALIDARG, field + " is no text or empty");
      }
      (member == "grammar" ? conversation->grammar : conversation->regex) = member_value.get<std::string>();
    }
  }
  if (!conversation->grammar.empty() && !conversation->regex.empty()) {
    throw Error(E_INVALIDARG, "extensionsJson: openwinml has both a grammar and a regex");
  }
  if ((!conversation->grammar.empty() || !conversation->regex.empty()) && conversation->response_schema) {
    throw Error(E_INVALIDARG, "extensionsJson: openwinml describes the reply, and so does responseFormat");
  }
}

void ReadTime(const WINML_CONVERSATION_REQUEST& request, Conversation* conversation) {
  conversation->unix_seconds = static_cast<int64_t>(std::time(nullptr));
  if (request.hasTimestamp) {
    conversation->unix_seconds = request.timestampUnixSeconds;
    if (conversation->unix_seconds < -kLatest || conversation->unix_seconds > kLatest) {
      throw Error(E_INVALIDARG, "timestampUnixSeconds is " + std::to_string(conversation->unix_seconds) +
                                    ", thousands of years away");
    }
  }
  if (request.hasTimeZoneOffset) {
    if (request.timeZoneOffsetMinutes < -24 * 60 || request.timeZoneOffsetMinutes > 24 * 60) {
      throw Error(E_INVALIDARG,
                  "timeZoneOffsetMinutes is " + std::to_string(request.timeZoneOffsetMinutes) + ", more than a day");
    }
    conversation->utc_offset_seconds = request.timeZoneOffsetMinutes * 60;
  } else if (!request.hasTimestamp) {
    // Spec-open: the process's own time zone when the caller says nothing about time, UTC beside a time stamp.
    const auto now = static_cast<std::time_t>(conversation->unix_seconds);
    std::tm local{};
    if (localtime_r(&now, &local)) conversation->utc_offset_seconds = static_cast<int32_t>(local.tm_gmtoff);
  }
}

}  // namespace

text::Conversation ReadRequest(const WINML_CONVERSATION_REQUEST& request) {
  RequireEnum(request.formatterMode, WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1, "formatterMode");
  RequireEnum(request.continuation, WINML_CONVERSATION_CONTINUATION_REASONING, "continuation");
  RequireEnum(request.enableThinking, WINML_CONVERSATION_ENABLE_THINKING_ENABLED, "enableThinking");
  Conversation conversation;
  CheckArray(request.messages, request.messageCount, "messages");
  for (UINT32 i = 0; i < request.messageCount; ++i) {
    conversation.messages.push_back(ReadMessage(request.messages[i], Item("messages", i)));
  }
  if (conversation.messages.empty()) throw Error(E_INVALIDARG, "the conversation has no messages");
  ReadTools(request, &conversation);
  ReadResponseFormat(request, &conversation);
  ReadExtensions(request.extensionsJson, &conversation);
  ReadValues(request, &conversation);
  ReadTime(request, &conversation);
  conversation.add_generation_prompt = request.addGenerationPrompt != 0;
  static_assert(static_cast<int>(text::Continuation::kReasoning) == WINML_CONVERSATION_CONTINUATION_REASONING);
  conversation.continuation = static_cast<text::Continuation>(request.continuation);
  if (request.enableThinking != WINML_CONVERSATION_ENABLE_THINKING_MODEL_DEFAULT) {
    conversation.enable_thinking = request.enableThinking == WINML_CONVERSATION_ENABLE_THINKING_ENABLED;
  }
  return conversation;
}

text::Conversation ReadMessages(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt) {
  CheckArray(messages, count, "messages");
  if (count == 0) throw Error(E_INVALIDARG, "the conversation has no messages");
  Conversation conversation;
  for (UINT32 i = 0; i < count; ++i) {
    ConversationMessage message;
    message.role = RequiredText(messages[i].role, Item("messages", i) + ".role");
    message.content = RequiredText(messages[i].content, Item("messages", i) + ".content");
    conversation.messages.push_back(std::move(message));
  }
  conversation.add_generation_prompt = add_generation_prompt;
  ReadTime({}, &conversation);
  return conversation;
}

}  // namespace owml
