// What a set of schemas says about one value, resolved into branches without "or": each branch lists the types it
// allows and, for each type, plain conditions.
// Used by the schema compiler, which turns branches into rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/constraint/automaton.h"
#include "text/constraint/schema_document.h"

namespace owml::text {

// A schema that holds, or one that does not.
struct Literal {
  const JsonTree* schema;
  bool holds;
  auto operator<=>(const Literal&) const = default;
};
// All of them. None: any value.
using Literals = std::vector<Literal>;

struct SchemaBranch {
  enum Type : uint8_t {
    kNull = 1,
    kTrue = 2,
    kFalse = 4,
    kNumber = 8,
    kString = 16,
    kArray = 32,
    kObject = 64,
    kAll = 127
  };

  // What one schema object says about the members of an object.
  struct Members {
    const JsonTree* properties = nullptr;  // null: none
    std::vector<std::pair<std::shared_ptr<const Automaton>, Literals>> patterns;
    std::set<std::string> known;         // further names that are not "additional"
    std::optional<Literals> additional;  // for all others; absent: nothing is said
  };
  // At least one member, with a key in `keys`, has a value with `value`.
  struct SomeMember {
    std::shared_ptr<const Automaton> keys;
    Literals value;
  };
  // What one schema object says about elements.
  struct Elements {
    std::vector<Literals> prefix;
    std::optional<Literals> rest;
  };
  // From element `from` on, between `minimum` and `maximum` elements have `value`.
  struct Contains {
    size_t from = 0;
    Literal value;
    uint64_t minimum = 1;
    std::optional<uint64_t> maximum;
  };

  uint8_t types = kAll;
  std::shared_ptr<const Automaton> numbers;  // null: any
  std::shared_ptr<const Automaton> strings;  // null: any
  uint64_t shortest = 0;
  std::optional<uint64_t> longest;

  std::vector<Elements> elements;
  std::vector<Contains> contains;
  uint64_t fewest_elements = 0;
  std::optional<uint64_t> most_elements;
  const JsonTree* unique = nullptr;  // the schema that asks for unique elements

  std::vector<Members> members;
  std::vector<SomeMember> some_members;
  std::vector<std::pair<std::string, Literal>> values;  // of the member with this name, when it is there
  std::set<std::string> required;
  std::set<std::string> absent;
  std::shared_ptr<const Automaton> names;  // null: any
  uint64_t fewest_members = 0;
  std::optional<uint64_t> most_members;
};

class SchemaBranches {
 public:
  static constexpr size_t kMostBranches = 256;

  explicit SchemaBranches(SchemaDocument* document) : document_(document) {}

  // The branches together are exactly what `literals` allow; they may overlap. Throws E_INVALIDARG for schemas that are
  // malformed and ERROR_NOT_SUPPORTED for what cannot be enforced.
  std::vector<SchemaBranch> Of(const Literals& literals);

  // The strings that `literals` allow; nothing that is no string counts.
  Automaton StringsOf(const Literals& literals);

  // The names in `properties` of all schemas that say something about the same value.
  struct Names {
    std::vector<std::string> as_met;      // following references where they stand
    std::vector<std::string> as_written;  // in the order of the document
  };
  Names NamesOf(const Literals& literals);

 private:
  class Solver;

  // The schemas about the same value that `schema` names.
  std::vector<const JsonTree*> InPlace(const JsonTree* schema) const;
  // Throws E_INVALIDARG for a schema that leads to itself for the same value.
  void CheckCircles(const JsonTree* schema);

  SchemaDocument* document_;
  std::map<const JsonTree*, const JsonTree*> const_schemas_;  // made for values of `const` and `enum`
  std::set<const JsonTree*> no_circle_;
  int depth_ = 0;
};

}  // namespace owml::text
