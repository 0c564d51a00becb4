// A parsed Jinja template, rendered as Python's Jinja does with the settings of Hugging Face transformers.
// Used by the portable formatter mode; immutable, usable from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "text/template/rendered_text.h"

namespace owml::text {

// What a template sees.
struct JinjaInput {
  std::string variables_json;  // an object; all its strings are the caller's
  std::string bos;             // bos_token and eos_token, the template's own words
  std::string eos;
  std::set<std::string> template_words;  // roles that count as the template's own words
  int64_t unix_seconds = 0;
  int32_t utc_offset_seconds = 0;
};

class JinjaTemplate {
 public:
  static constexpr size_t kLongest = 256 * 1024;

  // `label` names the file in messages. Throws ERROR_INVALID_DATA for a template that cannot be parsed.
  JinjaTemplate(const std::string& source, std::string label);
  ~JinjaTemplate();

  // Throws ERROR_INVALID_DATA for a template that goes beyond the bounds, ERROR_NOT_SUPPORTED for what the engine does
  // not know, E_INVALIDARG with the template's own words when it refuses the conversation.
  RenderedText Render(const JinjaInput& input) const;

 private:
  struct Parsed;

  std::string label_;
  std::unique_ptr<const Parsed> parsed_;
};

// Throws ERROR_INVALID_DATA for a template that is too long to be looked at.
void CheckTemplateSize(const std::string& source, const std::string& label);

// The part of llama.cpp's message that says what went wrong, without the excerpt of the template in front.
std::string ReasonOf(const std::string& message);

}  // namespace owml::text
