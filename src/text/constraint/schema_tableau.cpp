// The walk over schemas that are still to be read, with bounds on its branches and its steps.
// Called by SchemaBranches.
#include "text/constraint/schema_tableau.h"

#include "text/constraint/keyword_rules.h"

namespace owml::text {
namespace {

constexpr size_t kMostSteps = 50000;
constexpr size_t kStepUnits = 20;  // of the budget: about a microsecond

}  // namespace

std::vector<SchemaBranch> SchemaTableau::Solve(const Literals& literals) {
  BranchDraft start;
  for (const Literal& literal : literals) start.Add(literal.schema, literal.holds);
  drafts_.push_back(std::move(start));
  std::vector<SchemaBranch> result;
  while (!drafts_.empty()) {
    BranchDraft draft = std::move(drafts_.back());
    drafts_.pop_back();
    if (!Finish(&draft)) continue;
    result.push_back(std::move(draft.branch));
    if (result.size() > kMostBranches) RefuseBranches();
  }
  return result;
}

bool SchemaTableau::Finish(BranchDraft* draft) {
  while (!draft->dead) {
    if (draft->open.empty()) {
      if (draft->splits.empty()) break;
      Split(draft);
      continue;
    }
    const BranchDraft::Open open = draft->open.back();
    draft->open.pop_back();
    if (!draft->seen.insert(open).second) continue;
    if (++steps_ > kMostSteps) RefuseBranches();
    CompileBudget::Charge(kStepUnits);
    if (open.literal.holds) {
      Affirm(open, draft);
    } else {
      Deny(open.literal.schema, draft);
    }
  }
  if (draft->dead) return false;
  AffirmUnevaluated(draft);
  return draft->branch.types != 0;
}

void SchemaTableau::Split(BranchDraft* draft) {
  const auto choices = draft->splits.back();
  draft->splits.pop_back();
  for (size_t i = choices->size(); i-- > 1;) {
    CompileBudget::Charge(kStepUnits * (1 + draft->open.size() + draft->seen.size()));
    BranchDraft copy = *draft;
    (*choices)[i](&copy);
    if (!copy.dead) drafts_.push_back(std::move(copy));
    if (drafts_.size() > 4 * kMostBranches || ++steps_ > kMostSteps) RefuseBranches();
  }
  (*choices)[0](draft);
}

bool SchemaTableau::IsObject(const JsonTree* schema) const {
  const bool is_object = schema->is(JsonTree::Kind::kObject);
  if (!is_object && !schema->is(JsonTree::Kind::kBool)) {
    document_->Fail(schema, "a schema is an object, true or false");
  }
  return is_object;
}

void SchemaTableau::Affirm(const BranchDraft::Open& open, BranchDraft* draft) {
  const JsonTree* schema = open.literal.schema;
  if (!IsObject(schema)) {
    if (!schema->boolean) draft->dead = true;
    return;
  }
  SchemaContext context{document_, owner_, schema, open.watchers};
  WatchUnevaluated(&context, draft);
  AffirmMembers(context, draft);
  AffirmElements(context, draft);
  for (const auto& [name, value] : schema->members) {
    if (draft->dead) return;
    const SchemaKeyword keyword(context, name, value.get());
    if (const auto affirm = RuleOf(keyword).affirm) affirm(keyword, draft);
  }
}

void SchemaTableau::Deny(const JsonTree* schema, BranchDraft* draft) {
  if (!IsObject(schema)) {
    if (schema->boolean) draft->dead = true;
    return;
  }
  const SchemaContext context{document_, owner_, schema, {}};
  BranchChoices choices;
  for (const auto& [name, value] : schema->members) {
    const SchemaKeyword keyword(context, name, value.get());
    if (const auto deny = RuleOf(keyword).deny) deny(keyword, &choices);
  }
  draft->Choose(std::move(choices));
}

}  // namespace owml::text
