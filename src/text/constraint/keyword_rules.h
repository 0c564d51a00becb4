// What each keyword of JSON Schema does to a branch: when its schema holds, and when it does not.
// Used by the tableau. The rules stand in files of their own, by what they are about.
#pragma once

#include <span>

#include "text/constraint/branch_draft.h"
#include "text/constraint/schema_keyword.h"

namespace owml::text {

struct KeywordRule {
  const char* name;
  // Null: says nothing by itself.
  void (*affirm)(const SchemaKeyword& keyword, BranchDraft* draft);
  // Adds the ways in which the keyword can fail. Null: it cannot.
  void (*deny)(const SchemaKeyword& keyword, BranchChoices* choices);
};

// Remarks have a rule that says nothing. Throws ERROR_NOT_SUPPORTED for a keyword that is not known.
const KeywordRule& RuleOf(const SchemaKeyword& keyword);

using KeywordRules = std::span<const KeywordRule>;
KeywordRules CoreKeywords();         // $ref, $schema
KeywordRules LogicKeywords();        // allOf, anyOf, oneOf, not, if
KeywordRules TypeKeywords();         // type, enum, const
KeywordRules CountKeywords();        // minLength, maxItems and their kin
KeywordRules NumberKeywords();       // minimum, multipleOf...
KeywordRules StringKeywords();       // pattern, format
KeywordRules ArrayKeywords();        // items, contains...
KeywordRules ObjectKeywords();       // properties, required...
KeywordRules UnevaluatedKeywords();  // unevaluatedItems, unevaluatedProperties

// Keywords that depend on each other are affirmed together, ahead of the others.
void AffirmElements(const SchemaContext& context, BranchDraft* draft);  // prefixItems, items
void AffirmMembers(const SchemaContext& context, BranchDraft* draft);   // (pattern|additional)Properties, properties

// Makes a schema with `unevaluated...` watch its own keywords, and notes for those around it what it evaluates.
void WatchUnevaluated(SchemaContext* context, BranchDraft* draft);
// When all is known: what nobody has evaluated.
void AffirmUnevaluated(BranchDraft* draft);

}  // namespace owml::text
