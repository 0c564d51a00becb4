// From branches to rules: values, arrays and objects of a JSON Schema as parts of a grammar.
// Used by CompileJsonSchema.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/constraint/grammar.h"
#include "text/constraint/schema_branches.h"

namespace owml::text {

class SchemaGrammar {
 public:
  static constexpr size_t kMostRules = 30000;

  SchemaGrammar(SchemaDocument* document, Grammar* grammar, std::string prefix);

  // The rule of the values that `literals` allow. Bodies are written by Finish.
  Grammar::Rule RuleOf(const Literals& literals);
  void Finish();

 private:
  friend class SchemaArrayWriter;
  friend class SchemaObjectWriter;

  using Node = Grammar::Node;

  Grammar::Rule NewRule();
  Node ValueOf(const Literals& literals) { return grammar_->Call(RuleOf(literals)); }
  Node BranchNode(const SchemaBranch& branch, const PropertyNames& names);
  Node StringNode(const SchemaBranch& branch);
  Node AnyString();
  // A JSON string whose value is in `values`.
  Node Key(const Automaton& values);
  Node Key(const std::string& name);
  // At most one space behind them.
  Node Comma() { return grammar_->Sequence({grammar_->Literal(","), Space()}); }
  Node Colon() { return grammar_->Sequence({grammar_->Literal(":"), Space()}); }
  Node Space() { return grammar_->Optional(grammar_->Literal(" ")); }

  SchemaDocument* document_;
  Grammar* grammar_;
  const std::string prefix_;
  SchemaBranches branches_;
  std::map<Literals, Grammar::Rule> rules_;  // sorted
  std::vector<std::pair<Literals, Grammar::Rule>> open_;
  std::optional<Grammar::Rule> string_rule_;
  std::optional<Grammar::Rule> character_rule_;
  size_t count_ = 0;
};

// Without those that are there twice.
void AddLiterals(Literals* to, const Literals& more);

}  // namespace owml::text
