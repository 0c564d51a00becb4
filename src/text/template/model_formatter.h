// The formatter mode that knows model families: llama.cpp's handler for the template where it has one, else what it
// finds out about the template; prompt, call format, grammar of the reply and its parser.
// Used by src/conversation; immutable, usable from several threads.
#pragma once

#include <memory>
#include <string>

#include "text/template/formatted_prompt.h"

namespace owml::text {

class ModelFormatter {
 public:
  // Throws ERROR_INVALID_DATA for a template that cannot be used.
  ModelFormatter(const std::string& source, const std::string& bos, const std::string& eos, std::string label);
  ~ModelFormatter();

  // Throws ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED or E_INVALIDARG with a sentence.
  FormattedPrompt Format(const Conversation& conversation) const;

 private:
  struct Handlers;

  std::string source_;
  std::string label_;
  std::unique_ptr<const Handlers> handlers_;
};

}  // namespace owml::text
