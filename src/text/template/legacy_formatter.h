// The formatter mode that uses llama.cpp's built-in templates, found by looking at the model's own.
// Used by src/conversation; immutable, usable from several threads.
#pragma once

#include <string>

#include "text/template/formatted_prompt.h"

namespace owml::text {

class LegacyFormatter {
 public:
  LegacyFormatter(std::string source, std::string label);

  // Throws ERROR_NOT_SUPPORTED when no built-in template matches, and for all that they cannot express.
  FormattedPrompt Format(const Conversation& conversation) const;

 private:
  RenderedText Render(const Conversation& conversation, bool add_generation_prompt) const;

  std::string source_;
  std::string label_;
};

}  // namespace owml::text
