// Bounds on how much there is: characters of a string, elements of an array, members of an object.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"

namespace owml::text {
namespace {

using Branch = SchemaBranch;
using Range = CountRange Branch::*;

template <Range kRange>
void AffirmLeast(const SchemaKeyword& keyword, BranchDraft* draft) {
  (draft->branch.*kRange).AtLeast(keyword.Count());
}

template <Range kRange>
void AffirmMost(const SchemaKeyword& keyword, BranchDraft* draft) {
  (draft->branch.*kRange).AtMost(keyword.Count());
}

template <Branch::Type kType, Range kRange>
void DenyLeast(const SchemaKeyword& keyword, BranchChoices* choices) {
  const uint64_t count = keyword.Count();
  if (count == 0) return;
  choices->push_back(ForType(kType, [=](BranchDraft* draft) { (draft->branch.*kRange).AtMost(count - 1); }));
}

template <Branch::Type kType, Range kRange>
void DenyMost(const SchemaKeyword& keyword, BranchChoices* choices) {
  const uint64_t count = keyword.Count();
  choices->push_back(ForType(kType, [=](BranchDraft* draft) { (draft->branch.*kRange).AtLeast(count + 1); }));
}

template <Branch::Type kType, Range kRange>
constexpr KeywordRule Least(const char* name) {
  return {name, AffirmLeast<kRange>, DenyLeast<kType, kRange>};
}

template <Branch::Type kType, Range kRange>
constexpr KeywordRule Most(const char* name) {
  return {name, AffirmMost<kRange>, DenyMost<kType, kRange>};
}

constexpr KeywordRule kRules[] = {Least<Branch::kString, &Branch::length>("minLength"),
                                  Most<Branch::kString, &Branch::length>("maxLength"),
                                  Least<Branch::kArray, &Branch::element_count>("minItems"),
                                  Most<Branch::kArray, &Branch::element_count>("maxItems"),
                                  Least<Branch::kObject, &Branch::member_count>("minProperties"),
                                  Most<Branch::kObject, &Branch::member_count>("maxProperties")};

}  // namespace

KeywordRules CountKeywords() { return kRules; }

}  // namespace owml::text
