// Schemas out of other schemas about the same value: `allOf`, `anyOf`, `oneOf`, `not`, `if` with `then` and `else`.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"

namespace owml::text {
namespace {

using Schemas = std::vector<const JsonTree*>;

BranchChange DenyEach(Schemas schemas) {
  return [schemas = std::move(schemas)](BranchDraft* draft) {
    for (const JsonTree* schema : schemas) draft->Add(schema, false);
  };
}

void AffirmAllOf(const SchemaKeyword& keyword, BranchDraft* draft) {
  const Schemas schemas = keyword.Schemas();
  for (size_t i = schemas.size(); i-- > 0;) draft->Add(schemas[i], true, keyword.watchers());
}

void DenyAllOf(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const JsonTree* schema : keyword.Schemas()) choices->push_back(DenyEach({schema}));
}

void AffirmAnyOf(const SchemaKeyword& keyword, BranchDraft* draft) {
  const Schemas schemas = keyword.Schemas();
  const Watchers& watchers = keyword.watchers();
  BranchChoices choices;
  if (watchers.empty()) {
    for (const JsonTree* chosen : schemas) {
      choices.push_back([=](BranchDraft* to) { to->Add(chosen, true); });
    }
  } else {
    // Each that holds has evaluated something, so it is decided for each.
    constexpr size_t kMostDecided = 7;
    if (schemas.size() > kMostDecided) RefuseBranches();
    for (size_t mask = 1; mask < size_t{1} << schemas.size(); ++mask) {
      choices.push_back([=](BranchDraft* to) {
        for (size_t i = 0; i < schemas.size(); ++i) to->Add(schemas[i], ((mask >> i) & 1) != 0, watchers);
      });
    }
  }
  draft->Choose(std::move(choices));
}

void DenyAnyOf(const SchemaKeyword& keyword, BranchChoices* choices) {
  choices->push_back(DenyEach(keyword.Schemas()));
}

void AffirmOneOf(const SchemaKeyword& keyword, BranchDraft* draft) {
  const Schemas schemas = keyword.Schemas();
  BranchChoices choices;
  for (const JsonTree* chosen : schemas) {
    choices.push_back([=, watchers = keyword.watchers()](BranchDraft* to) {
      for (const JsonTree* other : schemas) {
        if (other != chosen) to->Add(other, false);
      }
      to->Add(chosen, true, watchers);
    });
  }
  draft->Choose(std::move(choices));
}

// None of them holds, or two of them do.
void DenyOneOf(const SchemaKeyword& keyword, BranchChoices* choices) {
  const Schemas schemas = keyword.Schemas();
  choices->push_back(DenyEach(schemas));
  for (size_t i = 0; i < schemas.size(); ++i) {
    for (size_t k = i + 1; k < schemas.size(); ++k) {
      choices->push_back([first = schemas[i], second = schemas[k]](BranchDraft* draft) {
        draft->Add(first, true);
        draft->Add(second, true);
      });
    }
  }
}

void AffirmNot(const SchemaKeyword& keyword, BranchDraft* draft) { draft->Add(keyword.value(), false); }

void DenyNot(const SchemaKeyword& keyword, BranchChoices* choices) {
  choices->push_back([schema = keyword.value()](BranchDraft* draft) { draft->Add(schema, true); });
}

void AffirmIf(const SchemaKeyword& keyword, BranchDraft* draft) {
  const JsonTree* condition = keyword.value();
  const JsonTree* then = keyword.schema()->Find("then");
  const JsonTree* otherwise = keyword.schema()->Find("else");
  const Watchers& watchers = keyword.watchers();
  if (!then && !otherwise && watchers.empty()) return;
  draft->Choose({[=](BranchDraft* to) {
                   if (then) to->Add(then, true, watchers);
                   to->Add(condition, true, watchers);
                 },
                 [=](BranchDraft* to) {
                   if (otherwise) to->Add(otherwise, true, watchers);
                   to->Add(condition, false);
                 }});
}

void DenyIf(const SchemaKeyword& keyword, BranchChoices* choices) {
  const auto add = [&](bool holds, const JsonTree* consequence) {
    if (!consequence) return;
    choices->push_back([=, condition = keyword.value()](BranchDraft* draft) {
      draft->Add(condition, holds);
      draft->Add(consequence, false);
    });
  };
  add(true, keyword.schema()->Find("then"));
  add(false, keyword.schema()->Find("else"));
}

constexpr KeywordRule kRules[] = {{"allOf", AffirmAllOf, DenyAllOf},
                                  {"anyOf", AffirmAnyOf, DenyAnyOf},
                                  {"oneOf", AffirmOneOf, DenyOneOf},
                                  {"not", AffirmNot, DenyNot},
                                  {"if", AffirmIf, DenyIf}};

}  // namespace

KeywordRules LogicKeywords() { return kRules; }

}  // namespace owml::text
