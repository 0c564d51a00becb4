// What a formatted conversation asks of the reply's grammar. Plain data.
// Made by the formatter, carried by its result, compiled by the constraint factory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace owml::text {

// What wakes a lazy constraint. Texts and patterns are searched in the generated text.
struct ConstraintTrigger {
  enum class Kind : uint8_t {
    kToken,        // the token was generated
    kText,         // the text occurs
    kPattern,      // the regular expression occurs
    kFullPattern,  // the regular expression matches the whole text so far
  };
  Kind kind = Kind::kText;
  std::optional<uint32_t> token_id;
  std::string value;
};

// A special token whose text stays visible to the output parser.
struct PreservedToken {
  std::optional<uint32_t> token_id;
  std::string text;
};

struct ConstraintRequest {
  static constexpr const char* kJsonSchema = "json_schema";  // value: the schema
  static constexpr const char* kGbnf = "gbnf";               // value: rules; the first symbol is `root`
  static constexpr const char* kRegex = "regex";             // value: the expression, matched against the whole reply

  std::string syntax;
  uint32_t syntax_version = 1;
  std::string value;
  bool lazy = false;  // waits for a trigger
  std::vector<ConstraintTrigger> triggers;
};

}  // namespace owml::text
