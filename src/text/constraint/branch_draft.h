// A branch while schemas are still being taken apart: what is known so far, the schemas that are still to be read, and
// the choices that are put off.
// Written by the rules of keywords; run to its end by the tableau.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/constraint/schema_branch.h"

namespace owml::text {

// For one value.
constexpr size_t kMostBranches = 256;
// Throws ERROR_NOT_SUPPORTED: choices multiply to more.
[[noreturn]] void RefuseBranches();

struct BranchDraft;
using BranchChange = std::function<void(BranchDraft*)>;
using BranchChoices = std::vector<BranchChange>;

// Schemas with `unevaluated...`, which watch what other schemas about the same value evaluate. The outermost first.
using Watchers = std::vector<const JsonTree*>;

// What a watcher has seen.
struct Evaluated {
  bool all_members = false;
  bool all_elements = false;
  std::set<std::string> names;
  std::vector<std::shared_ptr<const Automaton>> patterns;
  size_t elements = 0;  // from the first
};

struct BranchDraft {
  struct Open {
    Literal literal;
    Watchers watchers;
    auto operator<=>(const Open&) const = default;
  };

  SchemaBranch branch;
  std::vector<Open> open;
  std::set<Open> seen;
  std::vector<std::shared_ptr<const BranchChoices>> splits;
  std::vector<std::pair<const JsonTree*, Evaluated>> evaluated;  // by watcher, in the order of their reading
  bool dead = false;                                             // no value is left

  // A schema that does not hold evaluates nothing.
  void Add(const JsonTree* schema, bool holds, const Watchers& watchers = {});
  // One of `choices` must be taken; none of them: the branch is dead. Choices are made when everything else is known.
  void Choose(BranchChoices choices);

  Evaluated& EvaluatedFor(const JsonTree* watcher);

  void OnlyTypes(uint8_t types);
  // Of numbers and of strings; other types are not concerned.
  void OnlyNumbers(const Automaton& set);
  void OnlyStrings(const Automaton& set);
};

// A change for the values of one type only.
BranchChange ForType(SchemaBranch::Type type, BranchChange change);

// Null stands for everything.
void Narrow(std::shared_ptr<const Automaton>* set, const Automaton& to);
std::shared_ptr<const Automaton> Share(Automaton automaton);

}  // namespace owml::text
