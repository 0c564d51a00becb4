// The parser for prompts whose call format is unknown: content, and reasoning between the tags that the template shows.
// Used by the portable and the legacy formatter.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "text/template/reply_parser.h"

namespace owml::text {

struct ThinkTags {
  std::string open;
  std::string close;
};

// Tags that occur as a pair in the template's source, such as <think> and </think>.
std::optional<ThinkTags> FindThinkTags(const std::string& template_source);

// `prompt_end` is what the prompt ends with: reasoning that it opened goes on in the reply.
std::shared_ptr<const ReplySyntax> PlainSyntax(std::optional<ThinkTags> tags, const std::string& prompt_end);

}  // namespace owml::text
