// What a set of schemas says about one value, resolved into branches without "or": each branch lists the types it
// allows and, for each type, plain conditions.
// Written by the tableau over schemas; read by the schema compiler, which turns branches into rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/constraint/automaton.h"
#include "text/constraint/json_tree.h"

namespace owml::text {

// A schema that holds, or one that does not.
struct Literal {
  const JsonTree* schema;
  bool holds;
  auto operator<=>(const Literal&) const = default;
};
// All of them. None: any value.
using Literals = std::vector<Literal>;

inline Literals Only(const JsonTree* schema, bool holds = true) { return {{schema, holds}}; }

// From `least` to `most`, both included.
struct CountRange {
  uint64_t least = 0;
  std::optional<uint64_t> most;

  bool any() const { return least == 0 && !most; }
  bool empty() const { return most && *most < least; }
  void AtLeast(uint64_t count) { least = std::max(least, count); }
  void AtMost(uint64_t count) { most = std::min(most.value_or(count), count); }
};

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
  CountRange length;                         // of a string, in code points

  std::vector<Elements> elements;
  std::vector<Contains> contains;
  CountRange element_count;
  const JsonTree* unique = nullptr;  // the schema that asks for unique elements

  std::vector<Members> members;
  std::vector<SomeMember> some_members;
  std::vector<std::pair<std::string, Literal>> values;  // of the member with this name, when it is there
  std::set<std::string> required;
  std::set<std::string> absent;
  std::shared_ptr<const Automaton> names;  // null: any
  CountRange member_count;
};

}  // namespace owml::text
