// The automaton of one rule while a grammar is compiled: from parts that may overlap to one state at a time.
// Used by the grammar compiler only.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace owml::text {

class RuleAutomaton {
 public:
  struct ByteEdge {
    uint8_t first;
    uint8_t last;
    uint32_t to;
  };
  struct CallEdge {
    uint32_t rule;
    uint32_t to;
  };
  struct State {
    std::vector<ByteEdge> bytes;
    std::vector<CallEdge> calls;
    std::vector<uint32_t> empty;
    bool accepts = false;
  };

  // `left` counts down over all rules of a grammar; throws E_INVALIDARG at zero.
  explicit RuleAutomaton(size_t* left) : left_(left) {}

  uint32_t AddState();
  void AddEmpty(uint32_t from, uint32_t to) { states_[from].empty.push_back(to); }
  void AddCall(uint32_t from, uint32_t rule, uint32_t to) { states_[from].calls.push_back({rule, to}); }
  void AddBytes(uint32_t from, uint8_t first, uint8_t last, uint32_t to) {
    states_[from].bytes.push_back({first, last, to});
  }
  // The UTF-8 of the characters from `first` to `last`, without surrogates.
  void AddCharacters(uint32_t from, char32_t first, char32_t last, uint32_t to);
  size_t size() const { return states_.size(); }

  // One state at a time: what leads from 0 to `end`. State 0 is the start.
  std::vector<State> Determinized(uint32_t end) const;

 private:
  void AddSameLength(uint32_t from, char32_t first, char32_t last, int length, uint32_t to);
  // A state from which `count` bytes of the middle of a character lead to `to`.
  uint32_t Tail(int count, uint32_t to);

  size_t* left_;
  std::vector<State> states_;
  std::map<std::pair<uint32_t, int>, uint32_t> tails_;
};

// Drops states that lead nowhere; `dead_rules` are rules that match nothing. Returns false when the start is one.
bool TrimRule(std::vector<RuleAutomaton::State>* states, const std::vector<char>& dead_rules);

}  // namespace owml::text
