// The formatter mode that renders the model's Jinja template and nothing else.
// Used by src/conversation; immutable, usable from several threads.
#pragma once

#include <string>

#include "text/template/formatted_prompt.h"
#include "text/template/jinja_template.h"

namespace owml::text {

class PortableFormatter {
 public:
  PortableFormatter(const std::string& source, std::string bos, std::string eos, std::string label);

  // Throws what JinjaTemplate::Render throws, and ERROR_NOT_SUPPORTED for what the template does not use.
  FormattedPrompt Format(const Conversation& conversation) const;

 private:
  RenderedText Render(const Conversation& conversation) const;
  RenderedText Continued(const Conversation& conversation, Continuation kind, std::string* opening) const;
  void CheckUsed(const Conversation& conversation) const;

  std::string source_;
  std::string bos_;
  std::string eos_;
  std::string label_;
  JinjaTemplate template_;
};

}  // namespace owml::text
