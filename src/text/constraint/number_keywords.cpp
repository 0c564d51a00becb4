// Numbers: `minimum`, `maximum`, their exclusive kin, `multipleOf`.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"
#include "text/constraint/number_sets.h"

namespace owml::text {
namespace {

using Relation = NumberRelation;

void AddNumbers(Automaton set, BranchChoices* choices) {
  choices->push_back(
      ForType(SchemaBranch::kNumber, [set = std::move(set)](BranchDraft* draft) { draft->OnlyNumbers(set); }));
}

template <Relation kRelation>
void AffirmBound(const SchemaKeyword& keyword, BranchDraft* draft) {
  draft->OnlyNumbers(NumbersThat(kRelation, keyword.Number()));
}

template <Relation kOpposite>
void DenyBound(const SchemaKeyword& keyword, BranchChoices* choices) {
  AddNumbers(NumbersThat(kOpposite, keyword.Number()), choices);
}

Automaton Multiples(const SchemaKeyword& keyword) {
  const Decimal divisor = keyword.Number();
  if (divisor.negative || divisor.is_zero()) keyword.Fail("the value of \"multipleOf\" must be positive");
  return MultiplesOf(divisor, keyword.document().Where(keyword.value()));
}

void AffirmMultipleOf(const SchemaKeyword& keyword, BranchDraft* draft) { draft->OnlyNumbers(Multiples(keyword)); }

void DenyMultipleOf(const SchemaKeyword& keyword, BranchChoices* choices) {
  AddNumbers(PlainNumbers().Without(Multiples(keyword)), choices);
}

constexpr KeywordRule kRules[] = {{"minimum", AffirmBound<Relation::kAtLeast>, DenyBound<Relation::kLess>},
                                  {"maximum", AffirmBound<Relation::kAtMost>, DenyBound<Relation::kMore>},
                                  {"exclusiveMinimum", AffirmBound<Relation::kMore>, DenyBound<Relation::kAtMost>},
                                  {"exclusiveMaximum", AffirmBound<Relation::kLess>, DenyBound<Relation::kAtLeast>},
                                  {"multipleOf", AffirmMultipleOf, DenyMultipleOf}};

}  // namespace

KeywordRules NumberKeywords() { return kRules; }

}  // namespace owml::text
