// A tableau for each question about schemas.
// Called by the schema compiler and by the rules of keywords.
#include "text/constraint/schema_branches.h"

#include "base/error.h"
#include "text/constraint/schema_tableau.h"

namespace owml::text {

std::vector<SchemaBranch> SchemaBranches::Of(const Literals& literals) {
  for (const Literal& literal : literals) circles_.Check(literal.schema);
  return SchemaTableau(this, document_).Solve(literals);
}

Automaton SchemaBranches::StringsOf(const Literals& literals) {
  constexpr int kDeepest = 16;
  if (depth_ >= kDeepest) throw Error(E_INVALIDARG, "JSON schema: \"propertyNames\" is nested too deeply");
  ++depth_;
  Automaton result;
  for (const SchemaBranch& branch : Of(literals)) {
    if (!(branch.types & SchemaBranch::kString)) continue;
    Automaton strings = branch.strings ? *branch.strings : Automaton::Everything();
    if (!branch.length.any()) {
      strings = strings.Intersection(Automaton::Lengths(branch.length.least, branch.length.most));
    }
    result = result.Union(strings);
  }
  --depth_;
  return result;
}

}  // namespace owml::text
