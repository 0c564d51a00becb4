// `unevaluatedProperties` and `unevaluatedItems`: conditions on what no other schema about the same value has
// evaluated. A schema that has one watches the others and is affirmed when they are all read.
// Called by the tableau and by way of the rules of keywords.
#include <algorithm>

#include "text/constraint/keyword_rules.h"

namespace owml::text {

using Branch = SchemaBranch;

void WatchUnevaluated(SchemaContext* context, BranchDraft* draft) {
  const auto members = context->Find("unevaluatedProperties");
  const auto elements = context->Find("unevaluatedItems");
  if (!members && !elements) return;
  // For those around it, it evaluates everything.
  for (const JsonTree* watcher : context->watchers) {
    Evaluated& evaluated = draft->EvaluatedFor(watcher);
    if (members) evaluated.all_members = true;
    if (elements) evaluated.all_elements = true;
  }
  draft->EvaluatedFor(context->schema);
  Watchers& watchers = context->watchers;
  const auto place = std::find(watchers.begin(), watchers.end(), context->schema);
  if (place == watchers.end()) watchers.push_back(context->schema);
}

void AffirmUnevaluated(BranchDraft* draft) {
  for (const auto& [schema, evaluated] : draft->evaluated) {
    const JsonTree* members_rest = schema->Find("unevaluatedProperties");
    if (members_rest && !evaluated.all_members) {
      Branch::Members members;
      members.known = evaluated.names;
      for (const auto& pattern : evaluated.patterns) members.patterns.emplace_back(pattern, Literals{});
      members.additional = Only(members_rest);
      draft->branch.members.push_back(std::move(members));
    }
    const JsonTree* elements_rest = schema->Find("unevaluatedItems");
    if (elements_rest && !evaluated.all_elements) {
      Branch::Elements elements;
      elements.prefix.resize(evaluated.elements);
      elements.rest = Only(elements_rest);
      draft->branch.elements.push_back(std::move(elements));
    }
  }
}

namespace {

void DenyUnevaluated(const SchemaKeyword& keyword, BranchChoices*) {
  const JsonTree& value = *keyword.value();
  if (value.is(JsonTree::Kind::kBool) && value.boolean) return;
  keyword.Refuse("is not supported inside \"not\", \"oneOf\" or \"if\"");
}

constexpr KeywordRule kRules[] = {{"unevaluatedProperties", nullptr, DenyUnevaluated},
                                  {"unevaluatedItems", nullptr, DenyUnevaluated}};

}  // namespace

KeywordRules UnevaluatedKeywords() { return kRules; }

}  // namespace owml::text
