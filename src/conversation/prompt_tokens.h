// Turns a rendered conversation into token ids so that only what the template itself wrote can become a control token.
// Called by the conversation formatter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conversation/vocabulary.h"

namespace owml {

// A run of rendered text, from the template or from the caller's strings.
struct PromptPart {
  std::string text;
  bool from_template = true;
};

// As Tokenizer::Encode does with the whole text, added tokens included, but that an added token which spells markup is
// taken only where the template wrote all of it. E_INVALIDARG for a conversation that is too long.
std::vector<uint32_t> EncodePrompt(const Vocabulary& vocabulary, const std::vector<PromptPart>& parts);

}  // namespace owml
