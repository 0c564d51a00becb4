// A semantic tableau over schemas: takes literals apart keyword by keyword, splits a branch where a keyword offers a
// choice, and gives up branches that no value fulfils.
// Used by SchemaBranches.
#pragma once

#include <cstddef>
#include <vector>

#include "text/constraint/branch_draft.h"
#include "text/constraint/schema_document.h"

namespace owml::text {

class SchemaBranches;

class SchemaTableau {
 public:
  SchemaTableau(SchemaBranches* owner, SchemaDocument* document) : owner_(owner), document_(document) {}

  // See SchemaBranches::Of.
  std::vector<SchemaBranch> Solve(const Literals& literals);

 private:
  // Runs a draft to its end; what it splits off is put back. False when no value fulfils it.
  bool Finish(BranchDraft* draft);
  // Takes the choices that came last: the first one here, the others in copies.
  void Split(BranchDraft* draft);
  void Affirm(const BranchDraft::Open& open, BranchDraft* draft);
  void Deny(const JsonTree* schema, BranchDraft* draft);
  // False for `true` and `false`.
  bool IsObject(const JsonTree* schema) const;

  SchemaBranches* owner_;
  SchemaDocument* document_;
  std::vector<BranchDraft> drafts_;
  size_t steps_ = 0;
};

}  // namespace owml::text
