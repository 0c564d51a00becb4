// Requests of applications turned into what a chat template takes.
// Called by the conversation formatter; strings become UTF-8 here.
#include "conversation/conversation_request.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

// Far above any conversation; a bound for numbers from outside.
constexpr UINT32 kMaxItems = 1u << 20;

[[noreturn]] void NotSupported(const std::string& what) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), what + " is not supported yet");
}

void RequireAbsent(LPCWSTR text, const std::string& field) {
  if (text) NotSupported(field);
}

void RequireEnum(int value, int highest, const std::string& field) {
  if (value < 0 || value > highest)
    throw Error(E_INVALIDARG, field + " is " + std::to_string(value) + ", an unknown value");
}

void CheckArray(const void* items, UINT32 count, const std::string& field) {
  if (count > 0 && !items) throw Error(E_POINTER, field + " is null with a count of " + std::to_string(count));
  if (count > kMaxItems)
    throw Error(E_INVALIDARG, std::to_string(count) + " " + field + " are more than " + std::to_string(kMaxItems));
}

std::string Required(LPCWSTR text, const std::string& field) {
  RequirePointer(text, field.c_str());
  return ToUtf8(text);
}

bool IsVariableName(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

// Names that the formatter sets itself.
bool IsReserved(const std::string& name) {
  for (const char* reserved :
       {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token", "enable_thinking"}) {
    if (name == reserved) return true;
  }
  return false;
}

std::string ReadJson(LPCWSTR text, const std::string& field) {
  const std::string json = Required(text, field);
  bool deep = false;
  const auto limit_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deep |= depth > 64;
    return !deep;
  };
  const auto parsed = nlohmann::json::parse(json, limit_depth, /*allow_exceptions=*/false);
  if (deep || parsed.is_discarded()) throw Error(E_INVALIDARG, field + " is no JSON value with at most 64 levels");
  return json;
}

TemplateValue ReadValue(const WINML_CONVERSATION_TEMPLATE_VALUE& value, const std::string& field) {
  switch (value.type) {
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_BOOLEAN:
      return value.booleanValue != 0;
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_INTEGER:
      return static_cast<int64_t>(value.integerValue);
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_DOUBLE:
      return value.doubleValue;
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_STRING:
      return Required(value.stringValue, field + ".stringValue");
    case WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_JSON:
      return TemplateJson{ReadJson(value.jsonValue, field + ".jsonValue")};
  }
  throw Error(E_INVALIDARG, field + ".type is " + std::to_string(static_cast<int>(value.type)) + ", an unknown value");
}

std::vector<std::string> ReadParts(const WINML_CONVERSATION_MESSAGE& message, const std::string& field) {
  std::vector<std::string> texts;
  for (UINT32 i = 0; i < message.contentPartCount; ++i) {
    const WINML_CONVERSATION_CONTENT_PART& part = message.contentParts[i];
    const std::string name = field + ".contentParts[" + std::to_string(i) + "]";
    const std::string type = Required(part.type, name + ".type");
    if (type != "text") NotSupported(name + ".type '" + type + "'");
    RequireAbsent(part.jsonValue, name + ".jsonValue");
    RequireAbsent(part.modelNativeId, name + ".modelNativeId");
    RequireAbsent(part.extensionsJson, name + ".extensionsJson");
    texts.push_back(Required(part.text, name + ".text"));
  }
  return texts;
}

TemplateMessage ReadMessage(const WINML_CONVERSATION_MESSAGE& message, const std::string& field) {
  TemplateMessage read;
  read.role = Required(message.role, field + ".role");
  CheckArray(message.contentParts, message.contentPartCount, field + ".contentParts");
  CheckArray(message.toolCalls, message.toolCallCount, field + ".toolCalls");
  if (message.toolCallCount > 0) NotSupported(field + ".toolCalls");
  RequireAbsent(message.toolCallId, field + ".toolCallId");
  RequireAbsent(message.toolName, field + ".toolName");
  RequireAbsent(message.modelNativeId, field + ".modelNativeId");
  RequireAbsent(message.extensionsJson, field + ".extensionsJson");
  if (message.content && message.contentPartCount > 0) {
    throw Error(E_INVALIDARG, field + " has both content and contentParts");
  }
  if (message.content) {
    read.content = ToUtf8(message.content);
  } else if (message.contentPartCount > 0) {
    read.text_parts = ReadParts(message, field);
  } else {
    throw Error(E_INVALIDARG, field + " has neither content nor contentParts");
  }
  if (message.reasoningContent) read.reasoning = ToUtf8(message.reasoningContent);
  return read;
}

void CheckTools(const WINML_CONVERSATION_REQUEST& request) {
  CheckArray(request.tools, request.toolCount, "tools");
  RequireEnum(request.toolChoice, WINML_CONVERSATION_TOOL_CHOICE_NAMED, "toolChoice");
  RequireEnum(request.parallelToolCalls, WINML_CONVERSATION_PARALLEL_TOOL_CALLS_ENABLED, "parallelToolCalls");
  if (request.toolCount > 0) NotSupported("tools");
  if (request.toolChoice == WINML_CONVERSATION_TOOL_CHOICE_REQUIRED ||
      request.toolChoice == WINML_CONVERSATION_TOOL_CHOICE_NAMED) {
    throw Error(E_INVALIDARG, "toolChoice asks for a tool call, but there are no tools");
  }
  if (request.namedToolChoice) throw Error(E_INVALIDARG, "namedToolChoice is set, but toolChoice does not name a tool");
  if (request.parallelToolCalls == WINML_CONVERSATION_PARALLEL_TOOL_CALLS_ENABLED) NotSupported("parallelToolCalls");
}

void CheckResponseFormat(const WINML_CONVERSATION_REQUEST& request) {
  RequireEnum(request.responseFormat, WINML_CONVERSATION_RESPONSE_FORMAT_JSON_SCHEMA, "responseFormat");
  if (request.responseFormat != WINML_CONVERSATION_RESPONSE_FORMAT_TEXT) NotSupported("responseFormat other than text");
  const std::string end = " is set, but responseFormat is text";
  if (request.responseSchemaJson) throw Error(E_INVALIDARG, "responseSchemaJson" + end);
  if (request.responseSchemaName) throw Error(E_INVALIDARG, "responseSchemaName" + end);
  if (request.responseSchemaDescription) throw Error(E_INVALIDARG, "responseSchemaDescription" + end);
  if (request.responseSchemaStrict) throw Error(E_INVALIDARG, "responseSchemaStrict" + end);
}

}  // namespace

TemplateInput ReadRequest(const WINML_CONVERSATION_REQUEST& request) {
  RequireEnum(request.formatterMode, WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1, "formatterMode");
  if (request.formatterMode != WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT)
    NotSupported("formatterMode other than the model's default");
  RequireEnum(request.continuation, WINML_CONVERSATION_CONTINUATION_REASONING, "continuation");
  if (request.continuation != WINML_CONVERSATION_CONTINUATION_NONE) NotSupported("continuation of the last message");
  RequireEnum(request.enableThinking, WINML_CONVERSATION_ENABLE_THINKING_ENABLED, "enableThinking");
  RequireAbsent(request.extensionsJson, "extensionsJson");
  CheckTools(request);
  CheckResponseFormat(request);

  TemplateInput input;
  CheckArray(request.messages, request.messageCount, "messages");
  for (UINT32 i = 0; i < request.messageCount; ++i) {
    input.messages.push_back(ReadMessage(request.messages[i], "messages[" + std::to_string(i) + "]"));
  }
  if (input.messages.empty()) throw Error(E_INVALIDARG, "the conversation has no messages");
  input.add_generation_prompt = request.addGenerationPrompt != 0;
  if (request.enableThinking != WINML_CONVERSATION_ENABLE_THINKING_MODEL_DEFAULT) {
    input.enable_thinking = request.enableThinking == WINML_CONVERSATION_ENABLE_THINKING_ENABLED;
  }
  CheckArray(request.templateValues, request.templateValueCount, "templateValues");
  for (UINT32 i = 0; i < request.templateValueCount; ++i) {
    const std::string field = "templateValues[" + std::to_string(i) + "]";
    const std::string name = Required(request.templateValues[i].name, field + ".name");
    if (!IsVariableName(name) || IsReserved(name))
      throw Error(E_INVALIDARG, field + ".name '" + name + "' cannot be a variable");
    input.values.emplace_back(name, ReadValue(request.templateValues[i], field));
  }
  if (request.hasTimestamp) input.unix_seconds = request.timestampUnixSeconds;
  if (request.hasTimeZoneOffset) {
    if (request.timeZoneOffsetMinutes < -24 * 60 || request.timeZoneOffsetMinutes > 24 * 60) {
      throw Error(E_INVALIDARG,
                  "timeZoneOffsetMinutes is " + std::to_string(request.timeZoneOffsetMinutes) + ", more than a day");
    }
    input.utc_offset_minutes = request.timeZoneOffsetMinutes;
  }
  return input;
}

TemplateInput ReadMessages(const WINML_CHAT_MESSAGE* messages, UINT32 count, bool add_generation_prompt) {
  CheckArray(messages, count, "messages");
  if (count == 0) throw Error(E_INVALIDARG, "the conversation has no messages");
  TemplateInput input;
  for (UINT32 i = 0; i < count; ++i) {
    const std::string field = "messages[" + std::to_string(i) + "]";
    TemplateMessage message;
    message.role = Required(messages[i].role, field + ".role");
    message.content = Required(messages[i].content, field + ".content");
    input.messages.push_back(std::move(message));
  }
  input.add_generation_prompt = add_generation_prompt;
  return input;
}

}  // namespace owml
