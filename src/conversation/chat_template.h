// A model's chat template: a conversation in, text out, with the caller's strings kept apart from the template's own
// words. Used by the conversation formatter; immutable, usable from several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conversation/prompt_tokens.h"

namespace owml {

struct TemplateMessage {
  std::string role;
  std::string content;  // unless parts are given
  std::optional<std::vector<std::string>> text_parts;
  std::optional<std::string> reasoning;
};

// JSON is given as text that was found to be valid.
struct TemplateJson {
  std::string text;
};
using TemplateValue = std::variant<bool, int64_t, double, std::string, TemplateJson>;

struct TemplateInput {
  std::vector<TemplateMessage> messages;
  bool add_generation_prompt = false;
  std::optional<bool> enable_thinking;
  std::vector<std::pair<std::string, TemplateValue>> values;
  std::optional<int64_t> unix_seconds;        // now, when absent
  std::optional<int32_t> utc_offset_minutes;  // the process's own time zone when both are absent
};

class ChatTemplate {
 public:
  // `label` names the file in messages. Nothing is parsed yet.
  ChatTemplate(std::string source, std::string bos, std::string eos, std::string label);

  // Throws ERROR_INVALID_DATA for a template that cannot be parsed, E_INVALIDARG with the template's own words when it
  // refuses the conversation, ERROR_NOT_SUPPORTED for what it cannot express.
  std::vector<PromptPart> Render(const TemplateInput& input) const;

  // Whether a variable of this name occurs in the template.
  bool Mentions(const std::string& variable) const { return source_.find(variable) != std::string::npos; }

  const std::string& sha256() const { return sha256_; }

 private:
  // What kinds of content the template takes; found by trying it out.
  struct Traits {
    bool takes_strings = true;
    bool takes_parts = false;
  };

  std::vector<PromptPart> RenderHere(const TemplateInput& input) const;
  const Traits& FindTraits() const;

  std::string source_;
  std::string bos_;
  std::string eos_;
  std::string label_;
  std::string sha256_;
  mutable std::once_flag traits_once_;
  mutable Traits traits_;
};

}  // namespace owml
