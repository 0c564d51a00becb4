// Whether the grammar of a call format holds a call to the JSON Schema of its tool.
// Used by the model's default formatter.
#pragma once

#include <peg-parser.h>

#include <optional>
#include <set>
#include <string>

#include "text/template/conversation.h"

namespace owml::text {

// Self-contained JSON Schemas go into a grammar as they are; this makes a part of a document one. `schema` and
// `document` are JSON.
std::string SelfContainedSchema(const std::string& schema, const std::string& document);

// What of the tool's schema the grammar leaves open, as in "'minimum' of the argument 'days'"; none when it holds all
// of it. `compiled` are the schemas that became part of the grammar, as JSON.
std::optional<std::string> FindUnenforced(const common_peg_arena& grammar, const ToolDefinition& tool,
                                          const std::set<std::string>& compiled);

}  // namespace owml::text
