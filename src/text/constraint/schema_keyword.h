// One keyword of a schema, with getters that say what is wrong with its value.
// Used by the rules of keywords.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/constraint/branch_draft.h"
#include "text/constraint/schema_document.h"

namespace owml::text {

class SchemaBranches;
class SchemaKeyword;

// A schema object that is being taken apart.
struct SchemaContext {
  SchemaDocument* document;
  SchemaBranches* branches;
  const JsonTree* schema;
  Watchers watchers;  // of what its keywords evaluate; none for a schema that does not hold

  std::optional<SchemaKeyword> Find(const char* keyword) const;
};

// Getters throw E_INVALIDARG with the place in the document. The context must outlive the keyword.
class SchemaKeyword {
 public:
  SchemaKeyword(const SchemaContext& context, std::string name, const JsonTree* value)
      : context_(&context), name_(std::move(name)), value_(value) {}

  const SchemaContext& context() const { return *context_; }
  SchemaDocument& document() const { return *context_->document; }
  SchemaBranches& branches() const { return *context_->branches; }
  const JsonTree* schema() const { return context_->schema; }
  const Watchers& watchers() const { return context_->watchers; }
  const std::string& name() const { return name_; }
  const JsonTree* value() const { return value_; }

  // Another keyword of the same schema.
  std::optional<SchemaKeyword> Beside(const char* keyword) const { return context_->Find(keyword); }

  bool Bool() const;
  const std::string& String() const;
  Decimal Number() const;
  uint64_t Count() const;
  std::vector<std::string> Strings() const { return Strings(value_); }
  std::vector<std::string> Strings(const JsonTree* list) const;  // of a list inside the value
  std::vector<const JsonTree*> Schemas() const;
  const decltype(JsonTree::elements)& Elements() const;
  const decltype(JsonTree::members)& Members() const;

  struct NamedTypes {
    uint8_t types = 0;
    bool integers = false;  // numbers are meant to be integral
  };
  NamedTypes Types() const;

  [[noreturn]] void Fail(const std::string& what) const { document().Fail(value_, what); }
  // Throws ERROR_NOT_SUPPORTED.
  [[noreturn]] void Refuse(const std::string& why) const { document().Refuse(schema(), name_, why); }

 private:
  void Require(const JsonTree* value, JsonTree::Kind kind, const char* what) const;

  const SchemaContext* context_;
  std::string name_;
  const JsonTree* value_;
};

// The texts in which `pattern`, standing at `place`, has a match.
Automaton PatternStrings(const SchemaDocument& document, const JsonTree* place, const std::string& pattern);

}  // namespace owml::text
