// The arrays of one branch as rules.
// Used by SchemaGrammar.
#pragma once

#include <map>
#include <vector>

#include "text/constraint/schema_grammar.h"

namespace owml::text {

class SchemaArrayWriter {
 public:
  SchemaArrayWriter(SchemaGrammar* owner, const SchemaBranch& branch);

  Grammar::Node Write();

 private:
  using Node = Grammar::Node;
  using Counts = std::vector<uint64_t>;

  // What the element at `index` must be.
  Literals ElementAt(uint64_t index) const;
  Node Simple();
  // Elements written so far and, for each `contains`, how many of them count.
  Grammar::Rule Counting(uint64_t index, const Counts& counts);
  void WriteCounting(uint64_t index, const Counts& counts, Grammar::Rule rule);
  Node Unique();
  // The few values that an element can have; empty when there are more or it is not known.
  std::vector<const JsonTree*> FewValues(const Literals& literals) const;

  SchemaGrammar* owner_;
  Grammar* grammar_;
  const SchemaBranch& branch_;
  uint64_t prefix_ = 0;  // from here on all elements are alike
  std::map<std::pair<uint64_t, Counts>, Grammar::Rule> known_;
  std::vector<std::pair<std::pair<uint64_t, Counts>, Grammar::Rule>> open_;
};

}  // namespace owml::text
