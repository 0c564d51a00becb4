// Each element and each member gets a `const` of its own, one level further down.
// Called by the branches.
#include "text/constraint/const_schemas.h"

#include <string>
#include <utility>

namespace owml::text {
namespace {

using Kind = JsonTree::Kind;
using Tree = std::unique_ptr<JsonTree>;

Tree Value(Kind kind, std::string text = {}, bool boolean = false) {
  auto value = std::make_unique<JsonTree>();
  value->kind = kind;
  value->text = std::move(text);
  value->boolean = boolean;
  return value;
}

Tree Const(const JsonTree& value) {
  Tree schema = Value(Kind::kObject);
  schema->members.emplace_back("const", value.Copy());
  return schema;
}

void WriteArray(const JsonTree& value, JsonTree* schema) {
  schema->members.emplace_back("type", Value(Kind::kString, "array"));
  Tree prefix = Value(Kind::kArray);
  for (const auto& element : value.elements) prefix->elements.push_back(Const(*element));
  if (!prefix->elements.empty()) schema->members.emplace_back("prefixItems", std::move(prefix));
  const std::string count = std::to_string(value.elements.size());
  schema->members.emplace_back("minItems", Value(Kind::kNumber, count));
  schema->members.emplace_back("maxItems", Value(Kind::kNumber, count));
}

void WriteObject(const JsonTree& value, JsonTree* schema) {
  schema->members.emplace_back("type", Value(Kind::kString, "object"));
  Tree properties = Value(Kind::kObject), required = Value(Kind::kArray);
  for (const auto& [key, member] : value.members) {
    properties->members.emplace_back(key, Const(*member));
    required->elements.push_back(Value(Kind::kString, key));
  }
  schema->members.emplace_back("properties", std::move(properties));
  schema->members.emplace_back("required", std::move(required));
  schema->members.emplace_back("additionalProperties", Value(Kind::kBool, {}, false));
}

}  // namespace

const JsonTree* ConstSchemas::Of(const JsonTree* origin, const JsonTree& value) {
  const JsonTree*& known = known_[&value];
  if (known) return known;
  JsonTree* made = document_->Make(origin);
  made->kind = Kind::kObject;
  if (value.is(Kind::kArray)) {
    WriteArray(value, made);
  } else {
    WriteObject(value, made);
  }
  return known = made;
}

}  // namespace owml::text
