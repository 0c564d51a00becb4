// The schemas that a schema applies to the same value ("in place", as the standard says), and what is found by
// following them.
// Used by the branches and the schema compiler.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "text/constraint/schema_branch.h"
#include "text/constraint/schema_document.h"

namespace owml::text {

std::vector<const JsonTree*> InPlaceSchemas(const SchemaDocument& document, const JsonTree* schema);

// Finds schemas that lead to themselves for the same value.
class CircleCheck {
 public:
  explicit CircleCheck(const SchemaDocument* document) : document_(document) {}

  // Throws E_INVALIDARG.
  void Check(const JsonTree* schema);

 private:
  const SchemaDocument* document_;
  std::set<const JsonTree*> no_circle_;
};

// The names in `properties` of all schemas that say something about the same value.
struct PropertyNames {
  std::vector<std::string> as_met;      // following references where they stand
  std::vector<std::string> as_written;  // in the order of the document
};
PropertyNames PropertyNamesOf(const SchemaDocument& document, const Literals& literals);

}  // namespace owml::text
