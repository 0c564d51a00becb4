// The objects of one branch as rules: named members in the order of the schema, then the others.
// Used by SchemaGrammar.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "text/constraint/schema_grammar.h"

namespace owml::text {

class SchemaObjectWriter {
 public:
  // `order`: names of members in the order in which they come.
  SchemaObjectWriter(SchemaGrammar* owner, const SchemaBranch& branch, std::vector<std::string> order);

  Grammar::Node Write();

 private:
  using Node = Grammar::Node;

  struct Named {
    std::string name;
    Literals value;
    bool required = false;
    bool allowed = true;
    uint32_t claims = 0;  // which of `some_members` it could be
  };
  // Other members, by what their keys have in common.
  struct Others {
    Automaton keys;
    Literals value;
    uint32_t claims = 0;
    Node key = 0;
  };
  // Where an object stands: next named member, members so far (as far as that matters), claims of `some_members` that
  // are fulfilled, and which of the loose members were there.
  struct Place {
    size_t next = 0;
    uint64_t count = 0;
    uint32_t claims = 0;
    uint32_t loose = 0;
    auto operator<=>(const Place&) const = default;
  };

  Named Describe(const std::string& name) const;
  void FindOthers();
  Grammar::Rule RuleAt(const Place& place);
  void WriteAt(const Place& place, Grammar::Rule rule);
  // Adds the choices of writing a member here and going on at `then`.
  void AddMember(const Place& place, Node key, const Literals& value, uint32_t claims, Place then,
                 std::vector<Node>* choices);

  SchemaGrammar* owner_;
  Grammar* grammar_;
  const SchemaBranch& branch_;
  std::vector<Named> named_;
  std::vector<Named> loose_;  // required, but not in `properties`: in any order among the others
  std::vector<Others> others_;
  std::set<std::string> names_;  // everything that is no other member
  uint64_t count_limit_ = 1;
  bool possible_ = true;
  std::map<Place, Grammar::Rule> known_;
  std::vector<std::pair<Place, Grammar::Rule>> open_;
};

}  // namespace owml::text
