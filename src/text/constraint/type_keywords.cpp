// Values of any type: `type`, `enum`, `const`.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"
#include "text/constraint/number_sets.h"
#include "text/constraint/schema_branches.h"

namespace owml::text {
namespace {

using Kind = JsonTree::Kind;
using Branch = SchemaBranch;

void AffirmType(const SchemaKeyword& keyword, BranchDraft* draft) {
  const auto named = keyword.Types();
  draft->OnlyTypes(named.types);
  if (named.integers && !draft->dead) draft->OnlyNumbers(Integers());
}

void DenyType(const SchemaKeyword& keyword, BranchChoices* choices) {
  const auto named = keyword.Types();
  choices->push_back(
      [others = static_cast<uint8_t>(Branch::kAll & ~named.types)](BranchDraft* draft) { draft->OnlyTypes(others); });
  if (!named.integers) return;
  choices->push_back(ForType(Branch::kNumber, [broken = PlainNumbers().Without(Integers())](BranchDraft* draft) {
    draft->OnlyNumbers(broken);
  }));
}

Automaton NumbersEqualTo(const SchemaKeyword& keyword, const JsonTree& number) {
  return NumbersThat(NumberRelation::kEqual, Decimal::Of(number.text, keyword.document().Where(keyword.value())));
}

BranchChange AmongNumbers(Automaton set) {
  return ForType(Branch::kNumber, [set = std::move(set)](BranchDraft* draft) { draft->OnlyNumbers(set); });
}

BranchChange AmongStrings(Automaton set) {
  return ForType(Branch::kString, [set = std::move(set)](BranchDraft* draft) { draft->OnlyStrings(set); });
}

// The one type whose only value this is.
std::optional<Branch::Type> TypeOfOneValue(const JsonTree& value) {
  if (value.is(Kind::kNull)) return Branch::kNull;
  if (value.is(Kind::kBool)) return value.boolean ? Branch::kTrue : Branch::kFalse;
  return std::nullopt;
}

BranchChange EqualTo(const SchemaKeyword& keyword, const JsonTree& value) {
  if (const auto type = TypeOfOneValue(value)) return [=](BranchDraft* draft) { draft->OnlyTypes(*type); };
  if (value.is(Kind::kNumber)) return AmongNumbers(NumbersEqualTo(keyword, value));
  if (value.is(Kind::kString)) return AmongStrings(Automaton::Literal(value.text));
  const JsonTree* schema = keyword.branches().ConstSchema(keyword.value(), value);
  return [=, watchers = keyword.watchers()](BranchDraft* draft) { draft->Add(schema, true, watchers); };
}

BranchChange DifferentFrom(const SchemaKeyword& keyword, const JsonTree& value) {
  if (const auto type = TypeOfOneValue(value)) {
    return [others = static_cast<uint8_t>(Branch::kAll & ~*type)](BranchDraft* draft) { draft->OnlyTypes(others); };
  }
  if (value.is(Kind::kNumber)) {
    return [others = PlainNumbers().Without(NumbersEqualTo(keyword, value))](BranchDraft* draft) {
      draft->OnlyNumbers(others);
    };
  }
  if (value.is(Kind::kString)) {
    return [others = Automaton::Literal(value.text).Complement()](BranchDraft* draft) { draft->OnlyStrings(others); };
  }
  const JsonTree* schema = keyword.branches().ConstSchema(keyword.value(), value);
  return [=](BranchDraft* draft) { draft->Add(schema, false); };
}

// Strings and numbers together, each other value a choice of its own.
void AffirmEnum(const SchemaKeyword& keyword, BranchDraft* draft) {
  BranchChoices choices;
  std::set<std::string> texts;
  Automaton numbers;
  for (const auto& value : keyword.Elements()) {
    if (value->is(Kind::kString)) {
      texts.insert(value->text);
    } else if (value->is(Kind::kNumber)) {
      numbers = numbers.Union(NumbersEqualTo(keyword, *value));
    } else {
      choices.push_back(EqualTo(keyword, *value));
    }
  }
  if (!texts.empty()) choices.push_back(AmongStrings(Automaton::AnyOf(texts)));
  if (!numbers.empty()) choices.push_back(AmongNumbers(std::move(numbers)));
  draft->Choose(std::move(choices));
}

void DenyEnum(const SchemaKeyword& keyword, BranchChoices* choices) {
  std::vector<BranchChange> all;
  for (const auto& value : keyword.Elements()) all.push_back(DifferentFrom(keyword, *value));
  choices->push_back([all = std::move(all)](BranchDraft* draft) {
    for (const BranchChange& change : all) {
      if (!draft->dead) change(draft);
    }
  });
}

void AffirmConst(const SchemaKeyword& keyword, BranchDraft* draft) { EqualTo(keyword, *keyword.value())(draft); }

void DenyConst(const SchemaKeyword& keyword, BranchChoices* choices) {
  choices->push_back(DifferentFrom(keyword, *keyword.value()));
}

constexpr KeywordRule kRules[] = {
    {"type", AffirmType, DenyType}, {"enum", AffirmEnum, DenyEnum}, {"const", AffirmConst, DenyConst}};

}  // namespace

KeywordRules TypeKeywords() { return kRules; }

}  // namespace owml::text
