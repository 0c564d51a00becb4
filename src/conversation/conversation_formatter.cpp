// From requests to tokens.
// Called through the tokenizer's formatter interfaces.
#include "conversation/conversation_formatter.h"

#include <utility>

#include "base/sha256.h"
#include "conversation/conversation_request.h"
#include "conversation/prompt_tokens.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

std::vector<uint32_t> TokensOf(const Vocabulary& vocabulary, const text::RenderedText& prompt) {
  std::vector<PromptPart> parts;
  parts.reserve(prompt.size());
  for (const text::RenderedPart& part : prompt) parts.push_back({part.text, part.from_template});
  return EncodePrompt(vocabulary, parts);
}

std::optional<uint32_t> AddedTokenOf(const Vocabulary& vocabulary, const std::string& text) {
  const text::AddedToken* token = vocabulary.tokenizer().added().Find(std::string_view(text));
  if (!token) return std::nullopt;
  return token->id;
}

}  // namespace

ConversationFormatter::ConversationFormatter(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), template_sha256_(Sha256Hex(vocabulary_->chat_template())) {
  InstallLlamaHooks();
}

text::FormattedPrompt ConversationFormatter::Write(WINML_CONVERSATION_FORMATTER_MODE mode,
                                                   const text::Conversation& conversation) const {
  const auto get = [&](auto& formatter, const auto& make) {
    const std::lock_guard lock(mutex_);
    if (!formatter) formatter = make();
    return formatter.get();
  };
  const Vocabulary& vocabulary = *vocabulary_;
  switch (mode) {
    case WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1:
      return get(portable_,
                 [&] {
                   return std::make_unique<text::PortableFormatter>(vocabulary.chat_template(), vocabulary.bos_text(),
                                                                    vocabulary.eos_text(), vocabulary.label());
                 })
          ->Format(conversation);
    case WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1:
      return get(legacy_,
                 [&] {
                   return std::make_unique<text::LegacyFormatter>(vocabulary.chat_template(), vocabulary.label());
                 })
          ->Format(conversation);
    default:
      return get(model_,
                 [&] {
                   return std::make_unique<text::ModelFormatter>(vocabulary.chat_template(), vocabulary.bos_text(),
                                                                 vocabulary.eos_text(), vocabulary.label());
                 })
          ->Format(conversation);
  }
}

FormattedConversation ConversationFormatter::Format(const WINML_CONVERSATION_REQUEST& request) const {
  const text::Conversation conversation = ReadRequest(request);
  text::FormattedPrompt prompt = Write(request.formatterMode, conversation);
  FormattedConversation formatted;
  formatted.token_ids = TokensOf(*vocabulary_, prompt.prompt);
  formatted.generation_prompt = std::move(prompt.generation_prompt);
  formatted.generation_prompt_added = prompt.generation_prompt_added;
  formatted.continuation = prompt.continuation;
  formatted.additional_stops = std::move(prompt.additional_stops);
  formatted.constraint = std::move(prompt.constraint);
  if (formatted.constraint) {
    // A text that is one token comes as that token, whose text a decoder may not show.
    for (text::ConstraintTrigger& trigger : formatted.constraint->triggers) {
      if (trigger.kind != text::ConstraintTrigger::Kind::kText) continue;
      trigger.token_id = AddedTokenOf(*vocabulary_, trigger.value);
      if (trigger.token_id) trigger.kind = text::ConstraintTrigger::Kind::kToken;
    }
  }
  for (std::string& text : prompt.preserved_tokens) {
    const auto id = AddedTokenOf(*vocabulary_, text);
    formatted.preserved_tokens.push_back({id, std::move(text)});
  }
  formatted.identity = prompt.formatter + " " + prompt.syntax->name() + "-parser sha256:" + template_sha256_;
  formatted.syntax = std::move(prompt.syntax);
  return formatted;
}

std::vector<uint32_t> ConversationFormatter::Encode(const WINML_CHAT_MESSAGE* messages, UINT32 count,
                                                    bool add_generation_prompt) const {
  const text::Conversation conversation = ReadMessages(messages, count, add_generation_prompt);
  return TokensOf(*vocabulary_, Write(WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT, conversation).prompt);
}

}  // namespace owml
