// Arrays and objects that `const` and `enum` name, written with simpler keywords.
// Used by the rules of keywords, by way of the branches.
#pragma once

#include <map>

#include "text/constraint/schema_document.h"

namespace owml::text {

class ConstSchemas {
 public:
  explicit ConstSchemas(SchemaDocument* document) : document_(document) {}

  // The schema that only `value`, an array or an object, fulfils; the same one for the same place. It stands at the
  // place of `origin`.
  const JsonTree* Of(const JsonTree* origin, const JsonTree& value);

 private:
  SchemaDocument* document_;
  std::map<const JsonTree*, const JsonTree*> known_;
};

}  // namespace owml::text
