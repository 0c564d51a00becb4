// Conditions that come to a branch one by one.
// Called by the rules of keywords and by the tableau.
#include "text/constraint/branch_draft.h"

#include "base/error.h"

namespace owml::text {

using Branch = SchemaBranch;

void RefuseBranches() {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              "JSON schema: its choices (anyOf, oneOf, not, if) multiply to more than " +
                  std::to_string(kMostBranches) + " branches");
}

void BranchDraft::Add(const JsonTree* schema, bool holds, const Watchers& watchers) {
  open.push_back({{schema, holds}, holds ? watchers : Watchers{}});
}

void BranchDraft::Choose(BranchChoices choices) {
  if (choices.empty()) dead = true;
  splits.push_back(std::make_shared<const BranchChoices>(std::move(choices)));
}

Evaluated& BranchDraft::EvaluatedFor(const JsonTree* watcher) {
  for (auto& [known, seen_by_it] : evaluated) {
    if (known == watcher) return seen_by_it;
  }
  return evaluated.emplace_back(watcher, Evaluated{}).second;
}

void BranchDraft::OnlyTypes(uint8_t types) {
  branch.types &= types;
  if (branch.types == 0) dead = true;
}

void BranchDraft::OnlyNumbers(const Automaton& set) {
  Narrow(&branch.numbers, set);
  if (branch.numbers->empty()) OnlyTypes(Branch::kAll & ~Branch::kNumber);
}

void BranchDraft::OnlyStrings(const Automaton& set) {
  Narrow(&branch.strings, set);
  if (branch.strings->empty()) OnlyTypes(Branch::kAll & ~Branch::kString);
}

BranchChange ForType(SchemaBranch::Type type, BranchChange change) {
  return [type, change = std::move(change)](BranchDraft* draft) {
    draft->OnlyTypes(type);
    if (!draft->dead) change(draft);
  };
}

void Narrow(std::shared_ptr<const Automaton>* set, const Automaton& to) {
  *set = Share(*set ? (*set)->Intersection(to) : to);
}

std::shared_ptr<const Automaton> Share(Automaton automaton) {
  return std::make_shared<const Automaton>(std::move(automaton));
}

}  // namespace owml::text
