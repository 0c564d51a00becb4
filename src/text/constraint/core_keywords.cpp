// `$ref`, and `$schema` with the dialects that are understood.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"

namespace owml::text {
namespace {

const JsonTree* Target(const SchemaKeyword& keyword) {
  return keyword.document().Resolve(keyword.schema(), keyword.String());
}

void AffirmReference(const SchemaKeyword& keyword, BranchDraft* draft) {
  draft->Add(Target(keyword), true, keyword.watchers());
}

void DenyReference(const SchemaKeyword& keyword, BranchChoices* choices) {
  choices->push_back([target = Target(keyword)](BranchDraft* draft) { draft->Add(target, false); });
}

// What older drafts write differently is refused or malformed here, so their schemas keep their meaning.
void CheckDialect(const SchemaKeyword& keyword, BranchDraft*) {
  const std::string& name = keyword.String();
  for (const char* known : {"json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema",
                            "json-schema.org/draft-07/schema"}) {
    for (const char* scheme : {"http://", "https://"}) {
      const std::string address = std::string(scheme) + known;
      if (name == address || name == address + "#") return;
    }
  }
  keyword.document().Refuse(keyword.value(), keyword.name(),
                            "names a dialect that is not known: \"" + name.substr(0, 100) + "\"");
}

constexpr KeywordRule kRules[] = {{"$ref", AffirmReference, DenyReference}, {"$schema", CheckDialect, nullptr}};

}  // namespace

KeywordRules CoreKeywords() { return kRules; }

}  // namespace owml::text
