// Sets of strings as deterministic finite automata over code points, and the algebra on them.
// Used for what a JSON Schema says about strings and numbers, and for regular expressions in grammars.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/unicode/code_point_set.h"

namespace owml::text {

// Bounds the work that the automata and schemas of one constraint may take on this thread, while it lives. What works
// charges for it; E_INVALIDARG when it is used up.
class CompileBudget {
 public:
  static constexpr size_t kUnits = 30000000;  // about as many edges

  CompileBudget();
  ~CompileBudget();
  CompileBudget(const CompileBudget&) = delete;
  CompileBudget& operator=(const CompileBudget&) = delete;

  static void Charge(size_t units);

 private:
  size_t left_ = kUnits;
  CompileBudget* outer_;
};

// Every state can be reached and leads to an accepting one; the set that holds nothing has no states.
class Automaton {
 public:
  struct Edge {
    char32_t first;
    char32_t last;
    uint32_t to;
    bool operator==(const Edge&) const = default;
  };
  struct State {
    std::vector<Edge> edges;  // sorted, apart
    bool accepts = false;
  };

  // Every operation throws E_INVALIDARG when it would take more.
  static constexpr size_t kMostStates = 50000;

  static Automaton Nothing() { return {}; }
  static Automaton Everything();
  static Automaton Literal(std::string_view text);  // well-formed UTF-8
  static Automaton AnyOf(const std::set<std::string>& texts);
  static Automaton Lengths(uint64_t minimum, std::optional<uint64_t> maximum);  // in code points

  bool empty() const { return states_.empty(); }
  bool accepts_everything() const;
  const std::vector<State>& states() const { return states_; }  // the first is the start
  bool Accepts(std::string_view text) const;

  Automaton Intersection(const Automaton& other) const { return Combine(other, false, false); }
  Automaton Union(const Automaton& other) const { return Combine(other, true, false); }
  Automaton Without(const Automaton& other) const { return Combine(other, false, true); }
  Automaton Complement() const { return Everything().Without(*this); }

  bool operator==(const Automaton& other) const;

 private:
  friend class AutomatonBuilder;

  // Runs both at once. A state stands for both sides, either of which may have failed.
  Automaton Combine(const Automaton& other, bool either, bool negate_other) const;
  void Trim();      // states that are not reached or lead nowhere
  void Minimize();  // merges states that accept the same; leaves large automata alone

  std::vector<State> states_;
};

// An automaton that may be in several states at once, on the way to a deterministic one.
class AutomatonBuilder {
 public:
  static constexpr size_t kMostStates = 200000;

  uint32_t AddState();
  void AddEdge(uint32_t from, char32_t first, char32_t last, uint32_t to);
  void AddEdges(uint32_t from, const CodePointSet& set, uint32_t to);
  void AddEmpty(uint32_t from, uint32_t to);
  // A copy of `automaton` between two states.
  void AddAutomaton(uint32_t from, const Automaton& automaton, uint32_t to);

  // What leads from `start` to `end`.
  Automaton Build(uint32_t start, uint32_t end) const;

 private:
  struct State {
    std::vector<Automaton::Edge> edges;
    std::vector<uint32_t> empty;
  };
  std::vector<State> states_;
};

}  // namespace owml::text
