// Looking at sources and conversations without rendering.
// Called by the formatters.
#include "text/template/template_words.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace owml::text {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool IsPlainWord(const std::string& role) {
  return !role.empty() && std::all_of(role.begin(), role.end(), [](char c) { return IsWordByte(c) || c == '-'; });
}

template <typename Visit>
void VisitTexts(const Conversation& conversation, const Visit& visit) {
  for (const ConversationMessage& message : conversation.messages) {
    for (const std::string* text : {&message.role, &message.tool_call_id, &message.tool_name}) visit(*text);
    if (message.content) visit(*message.content);
    if (message.reasoning) visit(*message.reasoning);
    for (const ContentPart& part : message.parts) visit(part.text);
    for (const ToolCall& call : message.tool_calls) {
      for (const std::string* text : {&call.id, &call.name, &call.arguments}) visit(*text);
    }
  }
  for (const ToolDefinition& tool : conversation.tools) {
    for (const std::string* text : {&tool.name, &tool.description, &tool.parameters.text}) visit(*text);
  }
  for (const auto& [name, value] : conversation.values) {
    if (const auto* text = std::get_if<std::string>(&value)) visit(*text);
    if (const auto* json = std::get_if<JsonText>(&value)) visit(json->text);
  }
  if (conversation.response_schema) visit(conversation.response_schema->text);
}

}  // namespace

bool Mentions(const std::string& source, const std::string& name) {
  for (size_t at = 0; (at = source.find(name, at)) != std::string::npos; at += name.size()) {
    const bool begins = at == 0 || !IsWordByte(source[at - 1]);
    const size_t end = at + name.size();
    if (begins && (end == source.size() || !IsWordByte(source[end]))) return true;
  }
  return false;
}

std::set<std::string> TrustedRoles(const std::string& source, const Conversation& conversation) {
  std::set<std::string> trusted = {"system", "developer", "user", "assistant", "tool"};
  for (const ConversationMessage& message : conversation.messages) {
    if (!IsPlainWord(message.role)) continue;
    if (source.find("'" + message.role + "'") != std::string::npos ||
        source.find("\"" + message.role + "\"") != std::string::npos) {
      trusted.insert(message.role);
    }
  }
  return trusted;
}

Continuation ResolveContinuation(const Conversation& conversation) {
  if (conversation.continuation == Continuation::kNone) return Continuation::kNone;
  const ConversationMessage& last = conversation.messages.back();
  if (last.role != "assistant") {
    throw Error(E_INVALIDARG, "continuation is set, but the last message has the role '" + last.role + "'");
  }
  if (!last.tool_calls.empty()) {
    throw Error(E_INVALIDARG, "continuation is set, but the last message ends with tool calls");
  }
  const bool has_content = (last.content && !last.content->empty()) || !last.parts.empty();
  const bool has_reasoning = last.reasoning && !last.reasoning->empty();
  switch (conversation.continuation) {
    case Continuation::kAuto:
      return has_reasoning && !has_content ? Continuation::kReasoning : Continuation::kContent;
    case Continuation::kReasoning:
      if (has_content) throw Error(E_INVALIDARG, "continuation asks for reasoning, but the last message has content");
      return Continuation::kReasoning;
    default:
      return Continuation::kContent;
  }
}

char UnusedByte(const std::string& source, const Conversation& conversation, char other) {
  std::array<bool, 32> used{};
  const auto note = [&](const std::string& text) {
    for (char c : text) {
      if (static_cast<unsigned char>(c) < used.size()) used[static_cast<unsigned char>(c)] = true;
    }
    // JSON may hold a control character as an escape.
    if (text.find("\\u00") != std::string::npos) {
      for (size_t at = 0; (at = text.find("\\u00", at)) != std::string::npos; at += 4) {
        const std::string digits = text.substr(at + 4, 2);
        if (digits.size() == 2 && (digits[0] == '0' || digits[0] == '1')) {
          const size_t second = std::string("0123456789abcdef").find(static_cast<char>(digits[1] | 0x20));
          const size_t decimal = std::string("0123456789").find(digits[1]);
          const size_t low = decimal != std::string::npos ? decimal : second;
          if (low != std::string::npos) used[static_cast<size_t>(digits[0] - '0') * 16 + low] = true;
        }
      }
    }
  };
  note(source);
  VisitTexts(conversation, note);
  for (const char c : {'\t', '\n', '\v', '\f', '\r', '\0', '\x1c', '\x1d', '\x1e', '\x1f'}) {
    used[static_cast<unsigned char>(c)] = true;
  }
  if (other != 0) used[static_cast<unsigned char>(other)] = true;
  for (size_t c = 1; c < used.size(); ++c) {
    if (!used[c]) return static_cast<char>(c);
  }
  throw Error(E_INVALIDARG, "the conversation uses every control character there is");
}

}  // namespace owml::text
