// Elements of arrays: `prefixItems`, `items`, `contains` with its counts, `uniqueItems`.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"

namespace owml::text {

using Branch = SchemaBranch;

void AffirmElements(const SchemaContext& context, BranchDraft* draft) {
  const auto prefix = context.Find("prefixItems");
  const auto items = context.Find("items");
  if (items && items->value()->is(JsonTree::Kind::kArray)) {
    items->Fail("an array of schemas is written \"prefixItems\"");
  }
  if (!prefix && !items) return;
  Branch::Elements elements;
  if (prefix) {
    for (const JsonTree* element : prefix->Schemas()) elements.prefix.push_back(Only(element));
  }
  if (items) elements.rest = Only(items->value());
  for (const JsonTree* watcher : context.watchers) {
    Evaluated& evaluated = draft->EvaluatedFor(watcher);
    evaluated.elements = std::max(evaluated.elements, elements.prefix.size());
    if (items) evaluated.all_elements = true;
  }
  draft->branch.elements.push_back(std::move(elements));
}

namespace {

// One element of the prefix is there and differs.
void DenyPrefixItems(const SchemaKeyword& keyword, BranchChoices* choices) {
  const auto schemas = keyword.Schemas();
  for (size_t i = 0; i < schemas.size(); ++i) {
    choices->push_back(ForType(Branch::kArray, [i, schema = schemas[i]](BranchDraft* draft) {
      draft->branch.element_count.AtLeast(i + 1);
      Branch::Elements elements;
      elements.prefix.resize(i);
      elements.prefix.push_back(Only(schema, false));
      draft->branch.elements.push_back(std::move(elements));
    }));
  }
}

BranchChange ContainingElements(const Branch::Contains& contains) {
  return ForType(Branch::kArray, [=](BranchDraft* draft) { draft->branch.contains.push_back(contains); });
}

// Some element behind the prefix differs.
void DenyItems(const SchemaKeyword& keyword, BranchChoices* choices) {
  const auto prefix = keyword.Beside("prefixItems");
  Branch::Contains differing;
  differing.from = prefix ? prefix->Schemas().size() : 0;
  differing.value = {keyword.value(), false};
  choices->push_back(ContainingElements(differing));
}

Branch::Contains ReadContains(const SchemaKeyword& keyword) {
  Branch::Contains contains;
  contains.value = {keyword.value(), true};
  if (const auto least = keyword.Beside("minContains")) contains.minimum = least->Count();
  if (const auto most = keyword.Beside("maxContains")) contains.maximum = most->Count();
  return contains;
}

void AffirmContains(const SchemaKeyword& keyword, BranchDraft* draft) {
  const Branch::Contains contains = ReadContains(keyword);
  if (contains.minimum > 0 || contains.maximum) draft->branch.contains.push_back(contains);
  for (const JsonTree* watcher : keyword.watchers()) {
    if (watcher->Find("unevaluatedItems")) {
      keyword.document().Refuse(watcher, "unevaluatedItems", "is not supported beside \"contains\"");
    }
  }
}

// Too few of them, or too many.
void DenyContains(const SchemaKeyword& keyword, BranchChoices* choices) {
  const Branch::Contains asked = ReadContains(keyword);
  Branch::Contains broken = asked;
  if (asked.minimum > 0) {
    broken.minimum = 0;
    broken.maximum = asked.minimum - 1;
    choices->push_back(ContainingElements(broken));
  }
  if (asked.maximum) {
    broken.minimum = *asked.maximum + 1;
    broken.maximum = std::nullopt;
    choices->push_back(ContainingElements(broken));
  }
}

void AffirmUniqueItems(const SchemaKeyword& keyword, BranchDraft* draft) {
  if (keyword.Bool()) draft->branch.unique = keyword.schema();
}

void DenyUniqueItems(const SchemaKeyword& keyword, BranchChoices*) {
  if (keyword.Bool()) keyword.Refuse("is not supported inside \"not\", \"oneOf\" or \"if\"");
}

constexpr KeywordRule kRules[] = {{"prefixItems", nullptr, DenyPrefixItems},  // affirmed by AffirmElements
                                  {"items", nullptr, DenyItems},              // here too
                                  {"contains", AffirmContains, DenyContains},
                                  {"uniqueItems", AffirmUniqueItems, DenyUniqueItems}};

}  // namespace

KeywordRules ArrayKeywords() { return kRules; }

}  // namespace owml::text
