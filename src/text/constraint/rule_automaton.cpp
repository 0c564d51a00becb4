// Characters to bytes, and subset construction over bytes and calls.
// Called by the grammar compiler.
#include "text/constraint/rule_automaton.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "text/constraint/useful_states.h"
#include "text/unicode/utf8.h"

namespace owml::text {

namespace {

// Of all sets of states together while one rule is made deterministic.
constexpr size_t kMostMembers = 5000000;

[[noreturn]] void FailTooLarge() {
  throw Error(E_INVALIDARG, "the grammar is too large: its repetitions and sets need too many states");
}
}  // namespace

uint32_t RuleAutomaton::AddState() {
  if (*left_ == 0) FailTooLarge();
  --*left_;
  states_.emplace_back();
  return static_cast<uint32_t>(states_.size() - 1);
}

uint32_t RuleAutomaton::Tail(int count, uint32_t to) {
  if (count == 0) return to;
  const auto found = tails_.find({to, count});
  if (found != tails_.end()) return found->second;
  const uint32_t next = Tail(count - 1, to);
  const uint32_t state = AddState();
  AddBytes(state, 0x80, 0xBF, next);
  tails_[{to, count}] = state;
  return state;
}

void RuleAutomaton::AddCharacters(uint32_t from, char32_t first, char32_t last, uint32_t to) {
  struct Part {
    char32_t first, last;
    int length;
  };
  static constexpr Part kParts[] = {
      {0, 0x7F, 1}, {0x80, 0x7FF, 2}, {0x800, 0xD7FF, 3}, {0xE000, 0xFFFF, 3}, {0x10000, 0x10FFFF, 4}};
  for (const Part& part : kParts) {
    const char32_t low = std::max(first, part.first), high = std::min(last, part.last);
    if (low <= high) AddSameLength(from, low, high, part.length, to);
  }
}

void RuleAutomaton::AddSameLength(uint32_t from, char32_t first, char32_t last, int length, uint32_t to) {
  // Cut until the first and the last character differ in one byte and run over everything in the bytes behind it.
  for (int i = 1; i < length; ++i) {
    const char32_t mask = (char32_t{1} << (6 * i)) - 1;
    if ((first & ~mask) == (last & ~mask)) continue;
    if ((first & mask) != 0) {
      AddSameLength(from, first, first | mask, length, to);
      AddSameLength(from, (first | mask) + 1, last, length, to);
      return;
    }
    if ((last & mask) != mask) {
      AddSameLength(from, first, (last & ~mask) - 1, length, to);
      AddSameLength(from, last & ~mask, last, length, to);
      return;
    }
  }
  const std::string low = ToUtf8(first), high = ToUtf8(last);
  for (int i = 0; i < length; ++i) {
    const auto a = static_cast<uint8_t>(low[static_cast<size_t>(i)]);
    const auto b = static_cast<uint8_t>(high[static_cast<size_t>(i)]);
    // Once the bytes differ, all that follow are whole.
    const uint32_t next = a != b ? Tail(length - 1 - i, to) : i + 1 == length ? to : AddState();
    AddBytes(from, a, b, next);
    if (a != b) return;
    from = next;
  }
}

std::vector<RuleAutomaton::State> RuleAutomaton::Determinized(uint32_t end) const {
  std::vector<State> result;
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<std::vector<uint32_t>> sets;
  std::vector<char> seen(states_.size(), 0);
  size_t members = 0;
  const auto add = [&](std::vector<uint32_t> set) {
    std::erase_if(set, [&](uint32_t state) {
      const bool again = seen[state] != 0;
      seen[state] = 1;
      return again;
    });
    for (size_t i = 0; i < set.size(); ++i) {
      for (uint32_t to : states_[set[i]].empty) {
        if (!seen[to]) {
          seen[to] = 1;
          set.push_back(to);
        }
      }
    }
    for (uint32_t state : set) seen[state] = 0;
    std::sort(set.begin(), set.end());
    const auto [place, fresh] = known.try_emplace(std::move(set), static_cast<uint32_t>(sets.size()));
    if (fresh) {
      members += place->first.size();
      if (*left_ == 0 || members > kMostMembers) FailTooLarge();
      --*left_;
      sets.push_back(place->first);
    }
    return place->second;
  };
  add({0});
  std::vector<ByteEdge> edges;
  std::vector<uint32_t> borders;
  for (size_t i = 0; i < sets.size(); ++i) {
    State state;
    edges.clear();
    borders.clear();
    std::map<uint32_t, std::vector<uint32_t>> calls;
    for (uint32_t member : sets[i]) {
      if (member == end) state.accepts = true;
      for (const auto& edge : states_[member].bytes) {
        edges.push_back(edge);
        borders.push_back(edge.first);
        borders.push_back(edge.last + 1u);
      }
      for (const auto& call : states_[member].calls) calls[call.rule].push_back(call.to);
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    // Ordered, and the few that cover the present place apart: a large rule has states with very many edges.
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    size_t next_edge = 0;
    std::vector<ByteEdge> active;
    for (size_t k = 0; k + 1 < borders.size(); ++k) {
      while (next_edge < edges.size() && edges[next_edge].first <= borders[k]) active.push_back(edges[next_edge++]);
      std::erase_if(active, [&](const auto& edge) { return edge.last < borders[k]; });
      if (active.empty()) continue;
      std::vector<uint32_t> targets;
      for (const auto& edge : active) targets.push_back(edge.to);
      const uint32_t to = add(std::move(targets));
      const auto first = static_cast<uint8_t>(borders[k]), last = static_cast<uint8_t>(borders[k + 1] - 1);
      if (!state.bytes.empty() && state.bytes.back().to == to && state.bytes.back().last + 1 == first) {
        state.bytes.back().last = last;
      } else {
        state.bytes.push_back({first, last, to});
      }
    }
    for (auto& [rule, targets] : calls) state.calls.push_back({rule, add(std::move(targets))});
    result.push_back(std::move(state));
  }
  return result;
}

bool TrimRule(std::vector<RuleAutomaton::State>* states, const std::vector<char>& dead_rules) {
  const size_t count = states->size();
  std::vector<std::vector<uint32_t>> sources(count);
  for (uint32_t from = 0; from < count; ++from) {
    for (const auto& edge : (*states)[from].bytes) sources[edge.to].push_back(from);
    for (const auto& call : (*states)[from].calls) {
      if (!dead_rules[call.rule]) sources[call.to].push_back(from);
    }
  }
  const std::vector<char> useful = UsefulStates(sources, [&](uint32_t state) { return (*states)[state].accepts; });
  if (count == 0 || !useful[0]) return false;
  for (auto& state : *states) {
    std::erase_if(state.bytes, [&](const auto& edge) { return !useful[edge.to]; });
    std::erase_if(state.calls, [&](const auto& call) { return !useful[call.to] || dead_rules[call.rule]; });
  }
  return true;
}

}  // namespace owml::text
