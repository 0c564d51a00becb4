// Determinising, combining and shrinking finite automata over code points.
// Called by the pattern compiler and by the JSON Schema compiler.
#include "text/constraint/automaton.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "text/constraint/useful_states.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr uint32_t kDead = UINT32_MAX;
constexpr size_t kMostToMinimize = 3000;

[[noreturn]] void FailTooLarge() {
  throw Error(E_INVALIDARG, "an expression or a set of limits needs an automaton of more than " +
                                std::to_string(Automaton::kMostStates) + " states");
}

// Where a state goes with a character; edges are sorted.
uint32_t Target(const std::vector<Automaton::Edge>& edges, char32_t code) {
  auto edge = std::upper_bound(edges.begin(), edges.end(), code,
                               [](char32_t value, const Automaton::Edge& e) { return value < e.first; });
  if (edge == edges.begin()) return kDead;
  --edge;
  return code <= edge->last ? edge->to : kDead;
}

// The first code points at which one of the edge lists changes.
void Borders(const std::vector<Automaton::Edge>& edges, std::vector<char32_t>* borders) {
  for (const auto& edge : edges) {
    borders->push_back(edge.first);
    borders->push_back(edge.last + 1);
  }
}

void SortUnique(std::vector<char32_t>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

void Append(std::vector<Automaton::Edge>* edges, char32_t first, char32_t last, uint32_t to) {
  if (!edges->empty() && edges->back().to == to && edges->back().last + 1 == first) {
    edges->back().last = last;
  } else {
    edges->push_back({first, last, to});
  }
}

thread_local CompileBudget* current_budget = nullptr;

}  // namespace

// One inside another shares its rest.
CompileBudget::CompileBudget() : outer_(current_budget) {
  if (!outer_) current_budget = this;
}

CompileBudget::~CompileBudget() {
  if (!outer_) current_budget = nullptr;
}

void CompileBudget::Charge(size_t units) {
  if (!current_budget) return;
  if (current_budget->left_ < units) {
    throw Error(E_INVALIDARG, "the constraint is too complex: its expressions and conditions take too much work");
  }
  current_budget->left_ -= units;
}

Automaton Automaton::Everything() {
  Automaton all;
  all.states_.resize(1);
  all.states_[0].accepts = true;
  all.states_[0].edges.push_back({0, kLastCodePoint, 0});
  return all;
}

Automaton Automaton::Literal(std::string_view text) {
  Automaton automaton;
  automaton.states_.emplace_back();
  for (size_t at = 0; at < text.size();) {
    const Character character = DecodeCharacter(text, at);
    at += character.length;
    if (automaton.states_.size() >= kMostStates) FailTooLarge();
    automaton.states_.back().edges.push_back(
        {character.code, character.code, static_cast<uint32_t>(automaton.states_.size())});
    automaton.states_.emplace_back();
  }
  automaton.states_.back().accepts = true;
  return automaton;
}

Automaton Automaton::AnyOf(const std::set<std::string>& texts) {
  AutomatonBuilder builder;
  const uint32_t start = builder.AddState(), end = builder.AddState();
  for (const std::string& text : texts) builder.AddAutomaton(start, Literal(text), end);
  return builder.Build(start, end);
}

Automaton Automaton::Lengths(uint64_t minimum, std::optional<uint64_t> maximum) {
  if (maximum && *maximum < minimum) return Nothing();
  const uint64_t last = maximum.value_or(minimum);
  if (last >= kMostStates) FailTooLarge();
  Automaton automaton;
  automaton.states_.resize(last + 1);
  for (uint32_t state = 0; state <= last; ++state) {
    automaton.states_[state].accepts = state >= minimum;
    if (state < last) automaton.states_[state].edges.push_back({0, kLastCodePoint, state + 1});
  }
  if (!maximum) automaton.states_[last].edges.push_back({0, kLastCodePoint, static_cast<uint32_t>(last)});
  return automaton;
}

bool Automaton::accepts_everything() const { return *this == Everything(); }

bool Automaton::Accepts(std::string_view text) const {
  if (states_.empty()) return false;
  uint32_t state = 0;
  for (size_t at = 0; at < text.size();) {
    const Character character = DecodeCharacter(text, at);
    at += character.length;
    state = Target(states_[state].edges, character.code);
    if (state == kDead) return false;
  }
  return states_[state].accepts;
}

// Minimal automata are numbered in the order of the walk from the start, so equal sets look equal.
bool Automaton::operator==(const Automaton& other) const {
  if (states_.size() != other.states_.size()) return false;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].accepts != other.states_[i].accepts || states_[i].edges != other.states_[i].edges) return false;
  }
  return true;
}

Automaton Automaton::Combine(const Automaton& other, bool either, bool negate_other) const {
  Automaton result;
  using Pair = std::pair<uint32_t, uint32_t>;
  std::map<Pair, uint32_t> known;
  std::vector<Pair> pairs;
  const auto add = [&](Pair pair) {
    const auto [place, fresh] = known.try_emplace(pair, static_cast<uint32_t>(pairs.size()));
    if (fresh) {
      if (pairs.size() >= kMostStates) FailTooLarge();
      pairs.push_back(pair);
    }
    return place->second;
  };
  const auto hopeless = [&](Pair pair) {
    if (either) return pair.first == kDead && pair.second == kDead;
    return pair.first == kDead || (pair.second == kDead && !negate_other);
  };
  const Pair start{states_.empty() ? kDead : 0, other.states_.empty() ? kDead : 0};
  if (hopeless(start)) return result;
  add(start);
  static const std::vector<Edge> kNone;
  std::vector<char32_t> borders;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair pair = pairs[i];
    const auto& left = pair.first == kDead ? kNone : states_[pair.first].edges;
    const auto& right = pair.second == kDead ? kNone : other.states_[pair.second].edges;
    CompileBudget::Charge(1 + left.size() + right.size());
    State state;
    const bool a = pair.first != kDead && states_[pair.first].accepts;
    const bool b = pair.second != kDead && other.states_[pair.second].accepts;
    state.accepts = either ? a || b : a && (b != negate_other);
    borders.clear();
    Borders(left, &borders);
    Borders(right, &borders);
    SortUnique(&borders);
    for (size_t k = 0; k + 1 < borders.size(); ++k) {
      const Pair next{Target(left, borders[k]), Target(right, borders[k])};
      if (!hopeless(next)) Append(&state.edges, borders[k], borders[k + 1] - 1, add(next));
    }
    result.states_.push_back(std::move(state));
  }
  result.Trim();
  result.Minimize();
  return result;
}

void Automaton::Trim() {
  const size_t count = states_.size();
  std::vector<std::vector<uint32_t>> sources(count);
  for (uint32_t from = 0; from < count; ++from) {
    for (const auto& edge : states_[from].edges) sources[edge.to].push_back(from);
  }
  const std::vector<char> useful = UsefulStates(sources, [&](uint32_t state) { return states_[state].accepts; });
  if (count == 0 || !useful[0]) {
    states_.clear();
    return;
  }
  // Renumbered breadth first, which also drops what is not reached.
  std::vector<uint32_t> number(count, kDead), order{0};
  number[0] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const auto& edge : states_[order[i]].edges) {
      if (useful[edge.to] && number[edge.to] == kDead) {
        number[edge.to] = static_cast<uint32_t>(order.size());
        order.push_back(edge.to);
      }
    }
  }
  std::vector<State> kept(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const State& old = states_[order[i]];
    kept[i].accepts = old.accepts;
    for (const auto& edge : old.edges) {
      if (useful[edge.to]) Append(&kept[i].edges, edge.first, edge.last, number[edge.to]);
    }
  }
  states_ = std::move(kept);
}

void Automaton::Minimize() {
  const size_t count = states_.size();
  if (count < 2 || count > kMostToMinimize) return;
  std::vector<uint32_t> group(count);
  for (size_t i = 0; i < count; ++i) group[i] = states_[i].accepts ? 1 : 0;
  size_t groups = 0;
  while (true) {
    // What a state looks like when the states behind its edges are known by their groups only.
    CompileBudget::Charge(count);
    std::map<std::vector<uint32_t>, uint32_t> looks;
    std::vector<uint32_t> next(count);
    std::vector<uint32_t> look;
    for (size_t i = 0; i < count; ++i) {
      look.assign(1, group[i]);
      char32_t last = 0;
      for (const auto& edge : states_[i].edges) {
        const uint32_t to = group[edge.to];
        if (look.size() > 1 && look.back() == to && last + 1 == edge.first) {
          look[look.size() - 2] = edge.last;
        } else {
          look.insert(look.end(), {edge.first, edge.last, to});
        }
        last = edge.last;
      }
      next[i] = looks.try_emplace(look, static_cast<uint32_t>(looks.size())).first->second;
    }
    group = std::move(next);
    if (looks.size() == groups) break;
    groups = looks.size();
  }
  if (groups == count) return;
  std::vector<State> merged(groups);
  std::vector<uint32_t> number(groups, kDead);
  uint32_t fresh = 0;
  for (size_t i = 0; i < count; ++i) {
    if (number[group[i]] == kDead) number[group[i]] = fresh++;
  }
  std::vector<char> done(groups, 0);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = number[group[i]];
    if (done[at]) continue;
    done[at] = 1;
    merged[at].accepts = states_[i].accepts;
    for (const auto& edge : states_[i].edges) Append(&merged[at].edges, edge.first, edge.last, number[group[edge.to]]);
  }
  states_ = std::move(merged);
  Trim();  // numbers them in order
}

uint32_t AutomatonBuilder::AddState() {
  if (states_.size() >= kMostStates) FailTooLarge();
  states_.emplace_back();
  return static_cast<uint32_t>(states_.size() - 1);
}

void AutomatonBuilder::AddEdge(uint32_t from, char32_t first, char32_t last, uint32_t to) {
  states_[from].edges.push_back({first, last, to});
}

void AutomatonBuilder::AddEdges(uint32_t from, const CodePointSet& set, uint32_t to) {
  for (const auto& range : set.ranges()) AddEdge(from, range.first, range.last, to);
}

void AutomatonBuilder::AddEmpty(uint32_t from, uint32_t to) { states_[from].empty.push_back(to); }

void AutomatonBuilder::AddAutomaton(uint32_t from, const Automaton& automaton, uint32_t to) {
  if (automaton.empty()) return;
  const auto base = static_cast<uint32_t>(states_.size());
  for (size_t i = 0; i < automaton.states().size(); ++i) AddState();
  for (uint32_t i = 0; i < automaton.states().size(); ++i) {
    for (const auto& edge : automaton.states()[i].edges) AddEdge(base + i, edge.first, edge.last, base + edge.to);
    if (automaton.states()[i].accepts) AddEmpty(base + i, to);
  }
  AddEmpty(from, base);
}

Automaton AutomatonBuilder::Build(uint32_t start, uint32_t end) const {
  Automaton result;
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<std::vector<uint32_t>> sets;
  std::vector<char> seen(states_.size(), 0);
  size_t total = 0;
  // Adds what empty steps reach.
  const auto close = [&](std::vector<uint32_t>* set) {
    for (size_t i = 0; i < set->size(); ++i) {
      for (uint32_t to : states_[(*set)[i]].empty) {
        if (!seen[to]) {
          seen[to] = 1;
          set->push_back(to);
        }
      }
    }
    for (uint32_t state : *set) seen[state] = 0;
    std::sort(set->begin(), set->end());
  };
  const auto add = [&](std::vector<uint32_t> set) {
    const auto [place, fresh] = known.try_emplace(set, static_cast<uint32_t>(sets.size()));
    if (fresh) {
      total += set.size();
      if (sets.size() >= Automaton::kMostStates || total > 100 * Automaton::kMostStates) FailTooLarge();
      sets.push_back(std::move(set));
    }
    return place->second;
  };
  const auto gather = [&](std::vector<uint32_t> set) {
    for (uint32_t state : set) seen[state] = 1;
    close(&set);
    return set;
  };
  add(gather({start}));
  std::vector<char32_t> borders;
  std::vector<Automaton::Edge> edges;
  for (size_t i = 0; i < sets.size(); ++i) {
    Automaton::State state;
    edges.clear();
    borders.clear();
    for (uint32_t member : sets[i]) {
      if (member == end) state.accepts = true;
      edges.insert(edges.end(), states_[member].edges.begin(), states_[member].edges.end());
    }
    CompileBudget::Charge(sets[i].size() + edges.size());
    Borders(edges, &borders);
    SortUnique(&borders);
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Automaton::Edge> active;
    size_t next_edge = 0;
    for (size_t k = 0; k + 1 < borders.size(); ++k) {
      std::erase_if(active, [&](const auto& edge) { return edge.last < borders[k]; });
      while (next_edge < edges.size() && edges[next_edge].first <= borders[k]) active.push_back(edges[next_edge++]);
      std::erase_if(active, [&](const auto& edge) { return edge.last < borders[k]; });
      if (active.empty()) continue;
      std::vector<uint32_t> targets;
      for (const auto& edge : active) targets.push_back(edge.to);
      std::sort(targets.begin(), targets.end());
      targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
      Append(&state.edges, borders[k], borders[k + 1] - 1, add(gather(std::move(targets))));
    }
    result.states_.push_back(std::move(state));
  }
  result.Trim();
  result.Minimize();
  return result;
}

}  // namespace owml::text
