// Members of objects: their values by name and by pattern, which must be there, what their presence entails, and how
// they may be called.
// Called by way of the rules of keywords.
#include "text/constraint/keyword_rules.h"
#include "text/constraint/schema_branches.h"

namespace owml::text {

using Branch = SchemaBranch;

void AffirmMembers(const SchemaContext& context, BranchDraft* draft) {
  const auto properties = context.Find("properties");
  const auto patterns = context.Find("patternProperties");
  const auto additional = context.Find("additionalProperties");
  if (!properties && !patterns && !additional) return;
  Branch::Members members;
  Evaluated seen;
  if (properties) {
    for (const auto& [name, value] : properties->Members()) seen.names.insert(name);
    members.properties = properties->value();
  }
  if (patterns) {
    for (const auto& [pattern, value] : patterns->Members()) {
      const auto keys = Share(PatternStrings(*context.document, value.get(), pattern));
      members.patterns.emplace_back(keys, Only(value.get()));
      seen.patterns.push_back(keys);
    }
  }
  if (additional) members.additional = Only(additional->value());
  for (const JsonTree* watcher : context.watchers) {
    Evaluated& evaluated = draft->EvaluatedFor(watcher);
    evaluated.names.insert(seen.names.begin(), seen.names.end());
    evaluated.patterns.insert(evaluated.patterns.end(), seen.patterns.begin(), seen.patterns.end());
    if (additional) evaluated.all_members = true;
  }
  draft->branch.members.push_back(std::move(members));
}

namespace {

BranchChange ForObjects(BranchChange change) { return ForType(Branch::kObject, std::move(change)); }

void DenyProperties(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const auto& [name, property] : keyword.Members()) {
    choices->push_back(ForObjects([name = name, schema = property.get()](BranchDraft* draft) {
      draft->branch.required.insert(name);
      draft->branch.values.push_back({name, {schema, false}});
    }));
  }
}

// There is a member with a key in `keys` and such a value.
void AddSomeMember(Automaton keys, Literals value, BranchChoices* choices) {
  if (keys.empty()) return;
  const Branch::SomeMember member{Share(std::move(keys)), std::move(value)};
  choices->push_back(ForObjects([=](BranchDraft* draft) { draft->branch.some_members.push_back(member); }));
}

void DenyPatternProperties(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const auto& [pattern, property] : keyword.Members()) {
    AddSomeMember(PatternStrings(keyword.document(), property.get(), pattern), Only(property.get(), false), choices);
  }
}

void DenyAdditionalProperties(const SchemaKeyword& keyword, BranchChoices* choices) {
  Automaton others = Automaton::Everything();
  if (const JsonTree* properties = keyword.schema()->Find("properties")) {
    std::set<std::string> names;
    for (const auto& [name, property] : properties->members) names.insert(name);
    others = others.Without(Automaton::AnyOf(names));
  }
  if (const JsonTree* patterns = keyword.schema()->Find("patternProperties")) {
    for (const auto& [pattern, property] : patterns->members) {
      others = others.Without(PatternStrings(keyword.document(), patterns, pattern));
    }
  }
  AddSomeMember(std::move(others), Only(keyword.value(), false), choices);
}

void AffirmPropertyNames(const SchemaKeyword& keyword, BranchDraft* draft) {
  Narrow(&draft->branch.names, keyword.branches().StringsOf(Only(keyword.value())));
}

void DenyPropertyNames(const SchemaKeyword& keyword, BranchChoices* choices) {
  AddSomeMember(keyword.branches().StringsOf(Only(keyword.value())).Complement(), {}, choices);
}

void AffirmRequired(const SchemaKeyword& keyword, BranchDraft* draft) {
  for (const std::string& name : keyword.Strings()) draft->branch.required.insert(name);
}

void DenyRequired(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const std::string& name : keyword.Strings()) {
    choices->push_back(ForObjects([=](BranchDraft* draft) { draft->branch.absent.insert(name); }));
  }
}

// With the member `name`, `then` holds.
void AffirmDependency(BranchDraft* draft, const std::string& name, const BranchChange& then) {
  draft->Choose({[=](BranchDraft* to) { to->branch.absent.insert(name); },
                 [=](BranchDraft* to) {
                   to->branch.required.insert(name);
                   then(to);
                 },
                 [=](BranchDraft* to) { to->OnlyTypes(Branch::kAll & ~Branch::kObject); }});
}

void AffirmDependentRequired(const SchemaKeyword& keyword, BranchDraft* draft) {
  for (const auto& [name, list] : keyword.Members()) {
    const std::vector<std::string> others = keyword.Strings(list.get());
    if (others.empty()) continue;
    AffirmDependency(draft, name, [=](BranchDraft* to) { to->branch.required.insert(others.begin(), others.end()); });
  }
}

void DenyDependentRequired(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const auto& [name, list] : keyword.Members()) {
    for (const std::string& other : keyword.Strings(list.get())) {
      choices->push_back(ForObjects([name = name, other](BranchDraft* draft) {
        draft->branch.required.insert(name);
        draft->branch.absent.insert(other);
      }));
    }
  }
}

void AffirmDependentSchemas(const SchemaKeyword& keyword, BranchDraft* draft) {
  for (const auto& [name, dependent] : keyword.Members()) {
    AffirmDependency(draft, name, [schema = dependent.get(), watchers = keyword.watchers()](BranchDraft* to) {
      to->Add(schema, true, watchers);
    });
  }
}

void DenyDependentSchemas(const SchemaKeyword& keyword, BranchChoices* choices) {
  for (const auto& [name, dependent] : keyword.Members()) {
    choices->push_back(ForObjects([name = name, schema = dependent.get()](BranchDraft* draft) {
      draft->branch.required.insert(name);
      draft->Add(schema, false);
    }));
  }
}

constexpr KeywordRule kRules[] = {
    // Affirmed by AffirmMembers.
    {"properties", nullptr, DenyProperties},
    {"patternProperties", nullptr, DenyPatternProperties},
    {"additionalProperties", nullptr, DenyAdditionalProperties},

    {"propertyNames", AffirmPropertyNames, DenyPropertyNames},
    {"required", AffirmRequired, DenyRequired},
    {"dependentRequired", AffirmDependentRequired, DenyDependentRequired},
    {"dependentSchemas", AffirmDependentSchemas, DenyDependentSchemas}};

}  // namespace

KeywordRules ObjectKeywords() { return kRules; }

}  // namespace owml::text
