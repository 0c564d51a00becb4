// Spec-open: PORTABLE_JINJA_V1 sees the variables that transformers gives (messages, tools, documents,
// add_generation_prompt, the tokens) and the request's own; tool arguments are objects, and their text for a template
// that takes only text. Its parser knows content and the reasoning tags that the template shows, no tool calls.
// Called through the structured formatter.
#include "text/template/portable_formatter.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/template/conversation_json.h"
#include "text/template/template_words.h"
#include "text/template/think_tags.h"

namespace owml::text {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

// Everything before `mark`, and nothing of what follows.
RenderedText CutAt(const RenderedText& parts, char mark) {
  RenderedText kept;
  for (const RenderedPart& part : parts) {
    const size_t at = part.from_template ? std::string::npos : part.text.find(mark);
    kept.push_back({part.text.substr(0, at), part.from_template});
    if (at != std::string::npos) return kept;
  }
  return {};
}

std::string Difference(const std::string& whole, const std::string& shorter) {
  const auto differ = std::mismatch(whole.begin(), whole.end(), shorter.begin(), shorter.end());
  return std::string(differ.first, whole.end());
}

}  // namespace

PortableFormatter::PortableFormatter(const std::string& source, std::string bos, std::string eos, std::string label)
    : source_(source), bos_(std::move(bos)), eos_(std::move(eos)), label_(label), template_(source, std::move(label)) {}

RenderedText PortableFormatter::Render(const Conversation& conversation) const {
  JinjaInput input;
  input.bos = bos_;
  input.eos = eos_;
  input.template_words = TrustedRoles(source_, conversation);
  input.unix_seconds = conversation.unix_seconds;
  input.utc_offset_seconds = conversation.utc_offset_seconds;
  const auto render = [&](bool content_as_parts, ArgumentsForm form) {
    input.variables_json = TemplateVariables(conversation, content_as_parts, form);
    return template_.Render(input);
  };
  const bool has_parts = std::any_of(conversation.messages.begin(), conversation.messages.end(),
                                     [](const ConversationMessage& message) { return !message.parts.empty(); });
  const bool has_calls = std::any_of(conversation.messages.begin(), conversation.messages.end(),
                                     [](const ConversationMessage& message) { return !message.tool_calls.empty(); });
  // Templates that look into content["type"] or go through content take parts; the others take text.
  const bool takes_parts = Mentions(source_, "type") && Mentions(source_, "text");
  const bool only_parts = takes_parts && !Mentions(source_, "string");
  try {
    return render(only_parts || (has_parts && takes_parts), ArgumentsForm::kObject);
  } catch (const Error& error) {
    if (error.code() != E_INVALIDARG || !has_calls) throw;
    try {
      return render(only_parts || (has_parts && takes_parts), ArgumentsForm::kText);
    } catch (const Error&) {
      throw error;
    }
  }
}

void PortableFormatter::CheckUsed(const Conversation& conversation) const {
  const auto require = [&](bool used, const std::string& name, const std::string& field) {
    if (used && !Mentions(source_, name)) {
      throw Error(kNotSupported, label_ + ": " + field + " is set, but the chat template does not use " + name);
    }
  };
  require(!conversation.tools.empty(), "tools", "tools");
  require(conversation.enable_thinking.has_value(), "enable_thinking", "enableThinking");
  for (const auto& [name, value] : conversation.values) require(true, name, "the template value '" + name + "'");
  for (size_t i = 0; i < conversation.messages.size(); ++i) {
    const ConversationMessage& message = conversation.messages[i];
    const std::string field = "messages[" + std::to_string(i) + "]";
    require(!message.tool_calls.empty(), "tool_calls", field + ".toolCalls");
    require(message.reasoning.has_value(), "reasoning_content", field + ".reasoningContent");
    for (const ContentPart& part : message.parts) {
      require(part.type != "text", part.type, field + ".contentParts of type '" + part.type + "'");
    }
  }
  if (conversation.requires_call()) {
    throw Error(kNotSupported, "toolChoice asks for a call, whose form the portable formatter mode does not know");
  }
  if (conversation.parallel_tool_calls) {
    throw Error(kNotSupported, "parallelToolCalls is set, but the portable formatter mode does not see calls");
  }
}

RenderedText PortableFormatter::Continued(const Conversation& conversation, Continuation kind,
                                          std::string* opening) const {
  // A mark behind the text to continue tells where the template writes it; what comes after would end the message.
  Conversation marked = conversation;
  marked.add_generation_prompt = false;
  ConversationMessage& last = marked.messages.back();
  const char mark = UnusedByte(source_, conversation);
  if (kind == Continuation::kReasoning) {
    last.reasoning = last.reasoning.value_or("") + mark;
  } else if (!last.parts.empty()) {
    last.parts.back().text += mark;
  } else {
    last.content = last.content.value_or("") + mark;
  }
  RenderedText parts = CutAt(Render(marked), mark);
  if (parts.empty()) {
    throw Error(kNotSupported,
                label_ + ": continuation is set, but the chat template does not show the text to continue");
  }
  Conversation before = conversation;
  before.messages.pop_back();
  before.add_generation_prompt = false;
  before.continuation = Continuation::kNone;
  // Where the reply's own turn begins; some templates refuse a conversation without its last message.
  try {
    *opening = Difference(TextOf(parts), before.messages.empty() ? std::string() : TextOf(Render(before)));
  } catch (const Error&) {
    *opening = kind == Continuation::kReasoning ? *conversation.messages.back().reasoning
                                                : conversation.messages.back().content.value_or("");
  }
  return parts;
}

FormattedPrompt PortableFormatter::Format(const Conversation& conversation) const {
  CheckUsed(conversation);
  FormattedPrompt formatted;
  formatted.formatter = "portable-jinja";
  formatted.continuation = ResolveContinuation(conversation);
  if (formatted.continuation != Continuation::kNone) {
    formatted.prompt = Continued(conversation, formatted.continuation, &formatted.generation_prompt);
  } else {
    formatted.prompt = Render(conversation);
    formatted.generation_prompt_added = conversation.add_generation_prompt;
    if (conversation.add_generation_prompt) {
      Conversation without = conversation;
      without.add_generation_prompt = false;
      formatted.generation_prompt = Difference(TextOf(formatted.prompt), TextOf(Render(without)));
    }
  }
  SetPlainConstraint(conversation, &formatted);
  const bool opens_reply = formatted.generation_prompt_added || formatted.continuation == Continuation::kReasoning;
  auto tags = FindThinkTags(source_);
  if (formatted.continuation == Continuation::kContent) tags.reset();
  if (tags) formatted.preserved_tokens = {tags->open, tags->close};
  formatted.syntax = PlainSyntax(std::move(tags), opens_reply ? formatted.generation_prompt : std::string());
  return formatted;
}

}  // namespace owml::text
