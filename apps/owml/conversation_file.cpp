// The fields of the file, one function for each kind of record.
// A field that is not known is refused by name, like one of the wrong kind.
#include "conversation_file.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <openwinml/strings.hpp>
#include <utility>

#include "failure.h"

namespace owml::cli {
namespace {

constexpr int kDeepest = 200;

template <typename Value>
using Names = std::vector<std::pair<const char*, Value>>;

std::string ListOf(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

// The members of one JSON object; what was not asked for is an error at the end.
class ConversationFile::Object {
 public:
  Object(const ConversationFile& file, const Json& json, std::string where)
      : file_(file), json_(json), where_(std::move(where)) {
    if (!json.is_object()) file_.Fail(where_, "is no object");
  }

  std::string Place(const char* key) const { return where_.empty() ? key : where_ + "." + key; }
  // Null for JSON's null too.
  const Json* Find(const char* key) {
    asked_.emplace_back(key);
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& Require(const char* key) {
    const Json* value = Find(key);
    if (!value) file_.Fail(where_, std::string("lacks '") + key + "'");
    return *value;
  }
  BOOL Flag(const char* key, bool absent) {
    const Json* value = Find(key);
    if (value && !value->is_boolean()) file_.Fail(Place(key), "is neither true nor false");
    return (value ? value->get<bool>() : absent) ? TRUE : FALSE;
  }
  template <typename Value>
  Value Named(const char* key, Value absent, const Names<Value>& names) {
    const Json* value = Find(key);
    if (!value) return absent;
    std::vector<std::string> known;
    for (const auto& [name, number] : names) {
      if (value->is_string() && value->get_ref<const std::string&>() == name) return number;
      known.emplace_back(name);
    }
    file_.Fail(Place(key), "is none of " + ListOf(known));
  }
  bool Integer(const char* key, int64_t least, int64_t most, int64_t* number) {
    const Json* value = Find(key);
    if (!value) return false;
    const bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= static_cast<uint64_t>(most)
                                                  : value->is_number_integer();
    if (!fits || value->get<int64_t>() < least || value->get<int64_t>() > most) {
      file_.Fail(Place(key), "is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    *number = value->get<int64_t>();
    return true;
  }
  void End() const {
    for (const auto& member : json_.items()) {
      if (std::find(asked_.begin(), asked_.end(), member.key()) == asked_.end()) {
        file_.Fail(where_, "has '" + member.key() + "', which is not known here; known are " + ListOf(asked_));
      }
    }
  }

 private:
  const ConversationFile& file_;
  const Json& json_;
  std::string where_;
  std::vector<std::string> asked_;
};

ConversationFile::ConversationFile(const std::string& json, std::string label) : label_(std::move(label)) {
  bool deep = false;
  const auto limit = [&deep](int depth, Json::parse_event_t, Json&) {
    deep |= depth > kDeepest;
    return !deep;
  };
  Json parsed;
  try {
    parsed = Json::parse(json, limit);
  } catch (const Json::exception& error) {
    throw Failure(label_ + " is no JSON: " + error.what(), E_INVALIDARG);
  }
  if (deep) throw Failure(label_ + " is nested more than " + std::to_string(kDeepest) + " deep", E_INVALIDARG);
  request_.addGenerationPrompt = TRUE;
  if (parsed.is_array()) {
    ReadMessages(parsed);
  } else {
    ReadRequest(parsed);
  }
}

void ConversationFile::Fail(const std::string& where, const std::string& what) const {
  throw Failure(label_ + ": " + (where.empty() ? "the conversation" : where) + " " + what, E_INVALIDARG);
}

LPCWSTR ConversationFile::Keep(const std::string& text) {
  if (text.find('\0') != std::string::npos) Fail("", "holds a text with a NUL, which the API would end at");
  texts_.push_back(openwinml::ToWide(text));
  return texts_.back().c_str();
}

LPCWSTR ConversationFile::KeepJson(const Json& value) { return Keep(CompactJson(value)); }

LPCWSTR ConversationFile::KeepText(const Json* value, const std::string& where) {
  if (!value) return nullptr;
  if (!value->is_string()) Fail(where, "is no string");
  return Keep(value->get_ref<const std::string&>());
}

void ConversationFile::ReadRequest(const Json& json) {
  Object object(*this, json, "");
  ReadMessages(object.Require("messages"));
  if (const Json* tools = object.Find("tools")) ReadTools(*tools);
  if (const Json* choice = object.Find("tool_choice")) ReadToolChoice(*choice);
  if (object.Find("parallel_tool_calls")) {
    request_.parallelToolCalls = object.Flag("parallel_tool_calls", false)
                                     ? WINML_CONVERSATION_PARALLEL_TOOL_CALLS_ENABLED
                                     : WINML_CONVERSATION_PARALLEL_TOOL_CALLS_DISABLED;
  }
  if (const Json* format = object.Find("response_format")) ReadResponseFormat(*format);
  if (const Json* values = object.Find("chat_template_kwargs")) ReadTemplateValues(*values);
  request_.addGenerationPrompt = object.Flag("add_generation_prompt", true);
  request_.continuation =
      object.Named<WINML_CONVERSATION_CONTINUATION>("continuation", WINML_CONVERSATION_CONTINUATION_NONE,
                                                    {{"none", WINML_CONVERSATION_CONTINUATION_NONE},
                                                     {"auto", WINML_CONVERSATION_CONTINUATION_AUTO},
                                                     {"content", WINML_CONVERSATION_CONTINUATION_CONTENT},
                                                     {"reasoning", WINML_CONVERSATION_CONTINUATION_REASONING}});
  request_.formatterMode = object.Named<WINML_CONVERSATION_FORMATTER_MODE>(
      "formatter_mode", WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT,
      {{"model_default", WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT},
       {"portable_jinja_v1", WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1},
       {"legacy_template_v1", WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1}});
  if (object.Find("enable_thinking")) {
    request_.enableThinking = object.Flag("enable_thinking", false) ? WINML_CONVERSATION_ENABLE_THINKING_ENABLED
                                                                    : WINML_CONVERSATION_ENABLE_THINKING_DISABLED;
  }
  constexpr int64_t kAnyTime = int64_t{1} << 53;
  int64_t number = 0;
  if (object.Integer("timestamp", -kAnyTime, kAnyTime, &number)) {
    request_.hasTimestamp = TRUE;
    request_.timestampUnixSeconds = number;
  }
  if (object.Integer("time_zone_offset_minutes", -24 * 60, 24 * 60, &number)) {
    request_.hasTimeZoneOffset = TRUE;
    request_.timeZoneOffsetMinutes = static_cast<INT32>(number);
  }
  if (const Json* extensions = object.Find("extensions")) request_.extensionsJson = KeepJson(*extensions);
  object.End();
}

void ConversationFile::ReadMessages(const Json& json) {
  if (!json.is_array()) Fail("messages", "is no list");
  messages_.resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) ReadMessage(json[i], "messages[" + std::to_string(i) + "]", &messages_[i]);
  request_.messageCount = static_cast<UINT32>(messages_.size());
  request_.messages = messages_.data();
}

void ConversationFile::ReadMessage(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message) {
  Object object(*this, json, where);
  message->role = KeepText(&object.Require("role"), object.Place("role"));
  const Json* content = object.Find("content");
  if (content && content->is_array()) {
    ReadParts(*content, object.Place("content"), message);
  } else {
    message->content = KeepText(content, object.Place("content"));
  }
  message->reasoningContent = KeepText(object.Find("reasoning_content"), object.Place("reasoning_content"));
  if (const Json* calls = object.Find("tool_calls")) ReadCalls(*calls, object.Place("tool_calls"), message);
  message->toolCallId = KeepText(object.Find("tool_call_id"), object.Place("tool_call_id"));
  message->toolName = KeepText(object.Find("name"), object.Place("name"));
  if (const Json* extensions = object.Find("extensions")) message->extensionsJson = KeepJson(*extensions);
  object.End();
}

void ConversationFile::ReadParts(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message) {
  std::vector<WINML_CONVERSATION_CONTENT_PART>& parts = parts_.emplace_back(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    Object object(*this, json[i], where + "[" + std::to_string(i) + "]");
    const Json& type = object.Require("type");
    parts[i].type = KeepText(&type, object.Place("type"));
    parts[i].text = KeepText(object.Find("text"), object.Place("text"));
    // {"type": "image_url", "image_url": {...}}: the value goes as JSON.
    const std::string& name = type.get_ref<const std::string&>();
    if (name != "text") {
      if (const Json* value = object.Find(name.c_str())) parts[i].jsonValue = KeepJson(*value);
    }
    object.End();
  }
  message->contentPartCount = static_cast<UINT32>(parts.size());
  message->contentParts = parts.data();
}

void ConversationFile::ReadCalls(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message) {
  if (!json.is_array()) Fail(where, "is no list");
  std::vector<WINML_CONVERSATION_TOOL_CALL>& calls = calls_.emplace_back(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    Object object(*this, json[i], where + "[" + std::to_string(i) + "]");
    calls[i].id = KeepText(object.Find("id"), object.Place("id"));
    object.Named<int>("type", 0, {{"function", 0}});
    Object function(*this, object.Require("function"), object.Place("function"));
    calls[i].name = KeepText(&function.Require("name"), function.Place("name"));
    // A string of JSON, as services send it, or JSON itself.
    const Json& arguments = function.Require("arguments");
    calls[i].argumentsJson =
        arguments.is_string() ? Keep(arguments.get_ref<const std::string&>()) : KeepJson(arguments);
    function.End();
    object.End();
  }
  message->toolCallCount = static_cast<UINT32>(calls.size());
  message->toolCalls = calls.data();
}

void ConversationFile::ReadTools(const Json& json) {
  if (!json.is_array()) Fail("tools", "is no list");
  tools_.resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    Object object(*this, json[i], "tools[" + std::to_string(i) + "]");
    tools_[i].type = KeepText(object.Find("type"), object.Place("type"));
    Object function(*this, object.Require("function"), object.Place("function"));
    tools_[i].name = KeepText(&function.Require("name"), function.Place("name"));
    tools_[i].description = KeepText(function.Find("description"), function.Place("description"));
    const Json* parameters = function.Find("parameters");
    tools_[i].parametersJson = parameters ? KeepJson(*parameters) : Keep("{}");
    function.End();
    object.End();
  }
  request_.toolCount = static_cast<UINT32>(tools_.size());
  request_.tools = tools_.data();
}

void ConversationFile::ReadToolChoice(const Json& json) {
  const std::string word = json.is_string() ? json.get<std::string>() : "";
  if (json.is_object()) {
    Object object(*this, json, "tool_choice");
    object.Named<int>("type", 0, {{"function", 0}});
    Object function(*this, object.Require("function"), "tool_choice.function");
    request_.toolChoice = WINML_CONVERSATION_TOOL_CHOICE_NAMED;
    request_.namedToolChoice = KeepText(&function.Require("name"), function.Place("name"));
    function.End();
    object.End();
  } else if (word == "auto") {
    request_.toolChoice = WINML_CONVERSATION_TOOL_CHOICE_AUTO;
  } else if (word == "none") {
    request_.toolChoice = WINML_CONVERSATION_TOOL_CHOICE_NONE;
  } else if (word == "required") {
    request_.toolChoice = WINML_CONVERSATION_TOOL_CHOICE_REQUIRED;
  } else {
    Fail("tool_choice", "is none of auto, none, required and a function's name in an object");
  }
}

void ConversationFile::ReadResponseFormat(const Json& json) {
  Object object(*this, json, "response_format");
  request_.responseFormat = object.Named<WINML_CONVERSATION_RESPONSE_FORMAT>(
      "type", WINML_CONVERSATION_RESPONSE_FORMAT_TEXT,
      {{"text", WINML_CONVERSATION_RESPONSE_FORMAT_TEXT},
       {"json_object", WINML_CONVERSATION_RESPONSE_FORMAT_JSON_OBJECT},
       {"json_schema", WINML_CONVERSATION_RESPONSE_FORMAT_JSON_SCHEMA}});
  if (request_.responseFormat == WINML_CONVERSATION_RESPONSE_FORMAT_JSON_SCHEMA) {
    Object schema(*this, object.Require("json_schema"), "response_format.json_schema");
    request_.responseSchemaName = KeepText(schema.Find("name"), schema.Place("name"));
    request_.responseSchemaDescription = KeepText(schema.Find("description"), schema.Place("description"));
    request_.responseSchemaJson = KeepJson(schema.Require("schema"));
    request_.responseSchemaStrict = schema.Flag("strict", false);
    schema.End();
  }
  object.End();
}

void ConversationFile::ReadTemplateValues(const Json& json) {
  if (!json.is_object()) Fail("chat_template_kwargs", "is no object");
  for (const auto& member : json.items()) {
    const Json& value = member.value();
    WINML_CONVERSATION_TEMPLATE_VALUE& kept = values_.emplace_back();
    kept.name = Keep(member.key());
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (value.is_boolean()) {
      kept.type = WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_BOOLEAN;
      kept.booleanValue = value.get<bool>() ? TRUE : FALSE;
    } else if (fits) {
      kept.type = WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_INTEGER;
      kept.integerValue = value.get<int64_t>();
    } else if (value.is_number()) {
      kept.type = WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_DOUBLE;
      kept.doubleValue = value.get<double>();
    } else if (value.is_string()) {
      kept.type = WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_STRING;
      kept.stringValue = Keep(value.get_ref<const std::string&>());
    } else {
      kept.type = WINML_CONVERSATION_TEMPLATE_VALUE_TYPE_JSON;
      kept.jsonValue = KeepJson(value);
    }
  }
  request_.templateValueCount = static_cast<UINT32>(values_.size());
  request_.templateValues = values_.data();
}

}  // namespace owml::cli
