// A grammar made ready to run: for each rule a deterministic automaton whose edges take bytes or call other rules.
// Made once for a constraint; walked by ParserStates.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/constraint/grammar.h"
#include "text/constraint/rule_automaton.h"

namespace owml::text {

class GrammarProgram {
 public:
  using ByteEdge = RuleAutomaton::ByteEdge;
  using CallEdge = RuleAutomaton::CallEdge;
  struct State {
    uint32_t first_byte_edge = 0;
    uint32_t byte_edges = 0;
    uint32_t first_call = 0;
    uint32_t calls = 0;
    uint32_t rule = 0;
    bool accepts = false;

    // Nothing but the way back to the caller.
    bool only_ends() const { return accepts && byte_edges == 0 && calls == 0; }
  };
  struct Rule {
    uint32_t start = 0;
    uint32_t first_state = 0;
    uint32_t states = 0;
    uint32_t rank = 0;  // a rule that begins with another has the lower rank
    bool leaf = false;  // calls no rule
  };

  static constexpr size_t kMostStates = 400000;

  // Throws E_INVALIDARG: a rule that begins with itself, a grammar that matches nothing or is too large.
  static GrammarProgram Compile(const Grammar& grammar);

  uint32_t root() const { return root_; }
  const std::vector<Rule>& rules() const { return rules_; }
  const std::vector<State>& states() const { return states_; }
  std::span<const ByteEdge> byte_edges(uint32_t state) const {
    return std::span(byte_edges_).subspan(states_[state].first_byte_edge, states_[state].byte_edges);
  }
  std::span<const CallEdge> calls(uint32_t state) const {
    return std::span(calls_).subspan(states_[state].first_call, states_[state].calls);
  }
  // The rule's automaton as text: equal texts, equal rules. For rules that call no other.
  std::string Signature(uint32_t rule) const;

 private:
  friend class GrammarCompiler;

  uint32_t root_ = 0;
  std::vector<Rule> rules_;
  std::vector<State> states_;
  std::vector<ByteEdge> byte_edges_;
  std::vector<CallEdge> calls_;
};

}  // namespace owml::text
