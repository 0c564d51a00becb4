// Finding the rule of a keyword, and the keywords that say nothing about what is valid.
// Called by the tableau.
#include "text/constraint/keyword_rules.h"

#include <map>
#include <string_view>

namespace owml::text {
namespace {

constexpr const char* kRemarks[] = {"title", "description", "default", "examples", "$comment", "$id", "$anchor",
                                    "$dynamicAnchor", "$defs", "definitions", "deprecated", "readOnly", "writeOnly",
                                    "contentMediaType", "contentEncoding", "contentSchema",
                                    // Read together with another one.
                                    "then", "else", "minContains", "maxContains"};

using RuleMap = std::map<std::string_view, KeywordRule>;

RuleMap AllRules() {
  RuleMap rules;
  for (const char* name : kRemarks) rules[name] = {name, nullptr, nullptr};
  for (const KeywordRules& about : {CoreKeywords(), LogicKeywords(), TypeKeywords(), CountKeywords(), NumberKeywords(),
                                    StringKeywords(), ArrayKeywords(), ObjectKeywords(), UnevaluatedKeywords()}) {
    for (const KeywordRule& rule : about) rules[rule.name] = rule;
  }
  return rules;
}

}  // namespace

const KeywordRule& RuleOf(const SchemaKeyword& keyword) {
  static const RuleMap rules = AllRules();
  static constexpr KeywordRule kExtension = {"x-", nullptr, nullptr};
  const auto found = rules.find(keyword.name());
  if (found != rules.end()) return found->second;
  if (!keyword.name().starts_with(kExtension.name)) keyword.Refuse("is not supported");
  return kExtension;
}

}  // namespace owml::text
