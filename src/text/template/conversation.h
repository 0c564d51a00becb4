// A checked conversation, as templates and chat formats take it. Plain data, UTF-8.
// Made from requests by src/conversation; read by the three formatters here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace owml::text {

// JSON is given as text that was found to be valid.
struct JsonText {
  std::string text;
};

struct ContentPart {
  std::string type;  // "text", "image", ...
  std::string text;
};

struct ToolCall {
  std::string id;  // may be empty
  std::string name;
  std::string arguments;           // JSON, or what a model wrote instead
  bool arguments_are_json = true;  // an object
};

struct ConversationMessage {
  std::string role;
  std::optional<std::string> content;
  std::vector<ContentPart> parts;  // instead of content
  std::optional<std::string> reasoning;
  std::vector<ToolCall> tool_calls;
  std::string tool_call_id;  // of the call that a tool message answers
  std::string tool_name;
};

struct ToolDefinition {
  std::string name;
  std::string description;
  JsonText parameters;  // a JSON Schema, an object
};

enum class ToolChoice : uint8_t { kAuto, kNone, kRequired, kNamed };
enum class Continuation : uint8_t { kNone, kAuto, kContent, kReasoning };

using TemplateValue = std::variant<bool, int64_t, double, std::string, JsonText>;

struct Conversation {
  std::vector<ConversationMessage> messages;
  std::vector<ToolDefinition> tools;
  ToolChoice tool_choice = ToolChoice::kAuto;
  std::string named_tool;
  std::optional<bool> parallel_tool_calls;  // the model's own habit when absent
  bool add_generation_prompt = false;
  Continuation continuation = Continuation::kNone;
  std::optional<JsonText> response_schema;  // the reply is JSON that it describes
  std::string grammar;                      // GBNF of the reply; empty when none
  std::string regex;                        // of the whole reply; empty when none
  std::optional<bool> enable_thinking;
  std::vector<std::pair<std::string, TemplateValue>> values;
  int64_t unix_seconds = 0;
  int32_t utc_offset_seconds = 0;

  bool requires_call() const { return tool_choice == ToolChoice::kRequired || tool_choice == ToolChoice::kNamed; }
  // Bytes of everything in it, for bounds that grow with it.
  size_t size() const;
};

}  // namespace owml::text
