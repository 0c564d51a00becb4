// Built-in templates join role names, texts and their own words, and at most trim a text at its ends: marks inside of
// each text's ends tell afterwards what was the caller's.
// Called through the structured formatter.
#include "text/template/legacy_formatter.h"

#include <llama.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/template/marked_text.h"
#include "text/template/template_words.h"
#include "text/template/think_tags.h"

namespace owml::text {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

std::string ContentOf(const ConversationMessage& message) {
  std::string text = message.content.value_or("");
  for (const ContentPart& part : message.parts) {
    if (!text.empty()) text += '\n';
    text += part.text;
  }
  return text;
}

void CheckExpressible(const Conversation& conversation) {
  const auto refuse = [](const std::string& field) {
    throw Error(kNotSupported, field + " is set, which a built-in template cannot express");
  };
  if (!conversation.tools.empty()) refuse("tools");
  if (conversation.requires_call()) refuse("toolChoice");
  if (conversation.parallel_tool_calls) refuse("parallelToolCalls");
  if (conversation.enable_thinking) refuse("enableThinking");
  if (!conversation.values.empty()) refuse("the template value '" + conversation.values.front().first + "'");
  if (conversation.continuation != Continuation::kNone) refuse("continuation");
  const std::set<std::string> roles = TrustedRoles("", conversation);
  for (size_t i = 0; i < conversation.messages.size(); ++i) {
    const ConversationMessage& message = conversation.messages[i];
    const std::string field = "messages[" + std::to_string(i) + "]";
    if (roles.count(message.role) == 0) refuse(field + ".role '" + message.role + "'");
    if (message.reasoning) refuse(field + ".reasoningContent");
    if (!message.tool_calls.empty()) refuse(field + ".toolCalls");
    if (!message.tool_call_id.empty()) refuse(field + ".toolCallId");
    if (!message.tool_name.empty()) refuse(field + ".toolName");
    for (const ContentPart& part : message.parts) {
      if (part.type != "text") refuse(field + ".contentParts of type '" + part.type + "'");
    }
  }
}

}  // namespace

LegacyFormatter::LegacyFormatter(std::string source, std::string label)
    : source_(std::move(source)), label_(std::move(label)) {}

RenderedText LegacyFormatter::Render(const Conversation& conversation, bool add_generation_prompt) const {
  const TextMarks marks{UnusedByte("", conversation), UnusedByte("", conversation, UnusedByte("", conversation))};
  std::vector<std::string> contents;
  for (const ConversationMessage& message : conversation.messages) {
    const std::string text = ContentOf(message);
    if (text.find('\0') != std::string::npos) {
      throw Error(E_INVALIDARG, "the text of a message holds a character of value 0");
    }
    contents.push_back(MarkedInside(text, marks));
  }
  std::vector<llama_chat_message> chat;
  size_t length = 64;
  for (size_t i = 0; i < contents.size(); ++i) {
    chat.push_back({conversation.messages[i].role.c_str(), contents[i].c_str()});
    length += 256 + contents[i].size();
  }
  if (length > INT32_MAX / 2) throw Error(E_INVALIDARG, "the conversation is too long for a built-in template");
  std::string text(length, '\0');
  const auto apply = [&] {
    return llama_chat_apply_template(source_.c_str(), chat.data(), chat.size(), add_generation_prompt, text.data(),
                                     static_cast<int32_t>(text.size()));
  };
  int32_t size = apply();
  if (size > static_cast<int32_t>(text.size())) {
    text.resize(static_cast<size_t>(size));
    size = apply();
  }
  if (size < 0) throw Error(kNotSupported, label_ + ": no built-in template of llama.cpp matches its chat template");
  text.resize(std::min(text.size(), static_cast<size_t>(size)));
  return SplitMarked(text, marks);
}

FormattedPrompt LegacyFormatter::Format(const Conversation& conversation) const {
  CheckExpressible(conversation);
  FormattedPrompt formatted;
  formatted.formatter = "legacy-template";
  formatted.prompt = Render(conversation, conversation.add_generation_prompt);
  formatted.generation_prompt_added = conversation.add_generation_prompt;
  if (conversation.add_generation_prompt) {
    const std::string whole = TextOf(formatted.prompt);
    const std::string shorter = TextOf(Render(conversation, false));
    const auto differ = std::mismatch(whole.begin(), whole.end(), shorter.begin(), shorter.end());
    formatted.generation_prompt.assign(differ.first, whole.end());
  }
  SetPlainConstraint(conversation, &formatted);
  auto tags = FindThinkTags(source_);
  if (tags) formatted.preserved_tokens = {tags->open, tags->close};
  formatted.syntax = PlainSyntax(std::move(tags), formatted.generation_prompt);
  return formatted;
}

}  // namespace owml::text
