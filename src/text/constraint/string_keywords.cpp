// Strings: `pattern` and `format`.
// Called by way of the rules of keywords.
#include "text/constraint/json_strings.h"
#include "text/constraint/keyword_rules.h"

namespace owml::text {
namespace {

using Branch = SchemaBranch;

Automaton PatternSet(const SchemaKeyword& keyword) {
  return PatternStrings(keyword.document(), keyword.value(), keyword.String());
}

// Spec-open: the draft lets `format` be a remark or a condition. Here it is a condition where the schema is about
// strings, as those who write it there mean it, and refused where it could only be a remark.
Automaton FormatSet(const SchemaKeyword& keyword) {
  const std::string& name = keyword.String();
  const std::optional<SchemaKeyword> type = keyword.Beside("type");
  if (!type || type->Types().types != Branch::kString) {
    keyword.Refuse("is supported beside \"type\": \"string\" only");
  }
  const auto strings = FormatStrings(name);
  if (!strings) keyword.Refuse("has the value \"" + name.substr(0, 50) + "\", which is not supported");
  return *strings;
}

template <Automaton (*kSet)(const SchemaKeyword&)>
void AffirmSet(const SchemaKeyword& keyword, BranchDraft* draft) {
  draft->OnlyStrings(kSet(keyword));
}

template <Automaton (*kSet)(const SchemaKeyword&)>
void DenySet(const SchemaKeyword& keyword, BranchChoices* choices) {
  choices->push_back(ForType(
      Branch::kString, [others = kSet(keyword).Complement()](BranchDraft* draft) { draft->OnlyStrings(others); }));
}

constexpr KeywordRule kRules[] = {{"pattern", AffirmSet<PatternSet>, DenySet<PatternSet>},
                                  {"format", AffirmSet<FormatSet>, DenySet<FormatSet>}};

}  // namespace

KeywordRules StringKeywords() { return kRules; }

}  // namespace owml::text
