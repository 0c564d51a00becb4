// Values of keywords, checked for what the standard says that they must be.
// Called by the rules of keywords.
#include "text/constraint/schema_keyword.h"

#include "text/constraint/pattern.h"

namespace owml::text {

using Kind = JsonTree::Kind;
using Branch = SchemaBranch;

std::optional<SchemaKeyword> SchemaContext::Find(const char* keyword) const {
  const JsonTree* value = schema->Find(keyword);
  if (!value) return std::nullopt;
  return SchemaKeyword(*this, keyword, value);
}

void SchemaKeyword::Require(const JsonTree* value, Kind kind, const char* what) const {
  if (!value->is(kind)) document().Fail(value, "the value of \"" + name_ + "\" must be " + what);
}

bool SchemaKeyword::Bool() const {
  Require(value_, Kind::kBool, "true or false");
  return value_->boolean;
}

const std::string& SchemaKeyword::String() const {
  Require(value_, Kind::kString, "a string");
  return value_->text;
}

Decimal SchemaKeyword::Number() const {
  Require(value_, Kind::kNumber, "a number");
  return Decimal::Of(value_->text, document().Where(value_));
}

uint64_t SchemaKeyword::Count() const {
  const Decimal number = Number();
  if (number.negative || !number.is_integer()) {
    Fail("the value of \"" + name_ + "\" must be an integer that is not negative");
  }
  const std::string digits = number.integer_part();
  if (digits.size() > 9) return 1000000000;
  return std::stoull(digits);
}

std::vector<std::string> SchemaKeyword::Strings(const JsonTree* list) const {
  Require(list, Kind::kArray, "an array of strings");
  std::vector<std::string> result;
  for (const auto& element : list->elements) {
    Require(element.get(), Kind::kString, "an array of strings");
    result.push_back(element->text);
  }
  return result;
}

std::vector<const JsonTree*> SchemaKeyword::Schemas() const {
  Require(value_, Kind::kArray, "an array of schemas");
  if (value_->elements.empty()) Fail("the array \"" + name_ + "\" must not be empty");
  std::vector<const JsonTree*> result;
  for (const auto& element : value_->elements) result.push_back(element.get());
  return result;
}

const decltype(JsonTree::elements)& SchemaKeyword::Elements() const {
  Require(value_, Kind::kArray, "an array");
  return value_->elements;
}

const decltype(JsonTree::members)& SchemaKeyword::Members() const {
  Require(value_, Kind::kObject, "an object");
  return value_->members;
}

SchemaKeyword::NamedTypes SchemaKeyword::Types() const {
  NamedTypes result;
  bool integer = false, number = false;
  for (const std::string& name : value_->is(Kind::kString) ? std::vector{value_->text} : Strings()) {
    if (name == "null") {
      result.types |= Branch::kNull;
    } else if (name == "boolean") {
      result.types |= Branch::kTrue | Branch::kFalse;
    } else if (name == "number") {
      number = true;
    } else if (name == "integer") {
      integer = true;
    } else if (name == "string") {
      result.types |= Branch::kString;
    } else if (name == "array") {
      result.types |= Branch::kArray;
    } else if (name == "object") {
      result.types |= Branch::kObject;
    } else {
      Fail("there is no type \"" + name.substr(0, 50) + "\"");
    }
  }
  if (number || integer) result.types |= Branch::kNumber;
  result.integers = integer && !number;
  return result;
}

Automaton PatternStrings(const SchemaDocument& document, const JsonTree* place, const std::string& pattern) {
  return Pattern::Parse(pattern, document.Where(place)).Search();
}

}  // namespace owml::text
