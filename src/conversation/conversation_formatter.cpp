// Rendering and encoding of checked conversations.
// Called through the tokenizer's formatter interfaces.
#include "conversation/conversation_formatter.h"

#include <algorithm>

#include "base/error.h"
#include "conversation/conversation_request.h"

namespace owml {
namespace {

std::string TextOf(const std::vector<PromptPart>& parts) {
  std::string text;
  for (const PromptPart& part : parts) text += part.text;
  return text;
}

}  // namespace

ConversationFormatter::ConversationFormatter(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      template_(vocabulary_->chat_template(), std::string(vocabulary_->bos_text()),
                std::string(vocabulary_->eos_text()), vocabulary_->label()) {}

FormattedConversation ConversationFormatter::Format(const WINML_CONVERSATION_REQUEST& request) const {
  const TemplateInput input = ReadRequest(request);
  if (input.enable_thinking && !template_.Mentions("enable_thinking")) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                vocabulary_->label() + ": enableThinking is set, but the chat template knows no such switch");
  }
  for (const auto& [name, value] : input.values) {
    if (!template_.Mentions(name)) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                  vocabulary_->label() + ": the chat template does not use the template value '" + name + "'");
    }
  }
  return Format(input);
}

std::vector<uint32_t> ConversationFormatter::Encode(const WINML_CHAT_MESSAGE* messages, UINT32 count,
                                                    bool add_generation_prompt) const {
  return EncodePrompt(*vocabulary_, template_.Render(ReadMessages(messages, count, add_generation_prompt)));
}

FormattedConversation ConversationFormatter::Format(const TemplateInput& input) const {
  FormattedConversation formatted;
  const auto parts = template_.Render(input);
  formatted.token_ids = EncodePrompt(*vocabulary_, parts);
  formatted.generation_prompt_added = input.add_generation_prompt;
  if (input.add_generation_prompt) {
    // What the template adds for the reply is the difference to a rendering without it.
    TemplateInput without = input;
    without.add_generation_prompt = false;
    const std::string whole = TextOf(parts);
    const std::string shorter = TextOf(template_.Render(without));
    const auto differ = std::mismatch(whole.begin(), whole.end(), shorter.begin(), shorter.end());
    formatted.generation_prompt.assign(differ.first, whole.end());
  }
  formatted.identity = "llama.cpp-jinja content-parser sha256:" + template_.sha256();
  return formatted;
}

}  // namespace owml
