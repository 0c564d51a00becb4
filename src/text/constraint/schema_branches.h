// What schemas of one document allow, as branches and as strings.
// Used by the schema compiler, and by the rules of keywords for schemas inside schemas.
#pragma once

#include <vector>

#include "text/constraint/const_schemas.h"
#include "text/constraint/in_place_schemas.h"
#include "text/constraint/schema_branch.h"

namespace owml::text {

class SchemaBranches {
 public:
  explicit SchemaBranches(SchemaDocument* document)
      : document_(document), circles_(document), const_schemas_(document) {}

  // The branches together are exactly what `literals` allow; they may overlap. Throws E_INVALIDARG for schemas that are
  // malformed and ERROR_NOT_SUPPORTED for what cannot be enforced.
  std::vector<SchemaBranch> Of(const Literals& literals);

  // The strings that `literals` allow; nothing that is no string counts.
  Automaton StringsOf(const Literals& literals);

  // See ConstSchemas.
  const JsonTree* ConstSchema(const JsonTree* origin, const JsonTree& value) {
    return const_schemas_.Of(origin, value);
  }

 private:
  SchemaDocument* document_;
  CircleCheck circles_;
  ConstSchemas const_schemas_;
  int depth_ = 0;
};

}  // namespace owml::text
