// Compiles the rules of a grammar, finds those that match nothing or the empty text, and orders them by who begins with
// whom. Called by the compiler of constraints.
#include "text/constraint/grammar_program.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "text/constraint/rule_automaton.h"

namespace owml::text {

class GrammarCompiler {
 public:
  explicit GrammarCompiler(const Grammar& grammar) : grammar_(grammar) {}

  GrammarProgram Compile() {
    for (const auto& rule : grammar_.rules()) bodies_.push_back(rule.body);
    FindNullable();
    // Repetitions add rules of their own.
    for (size_t rule = 0; rule < bodies_.size(); ++rule) CompileRule(rule);
    FindDead();
    Rank();
    Lay();
    return std::move(program_);
  }

 private:
  using Kind = Grammar::Expression::Kind;
  using State = RuleAutomaton::State;

  // A part that is repeated more often than that becomes a rule of its own.
  static constexpr size_t kLongToRepeat = 4;
  static constexpr uint32_t kOftenRepeated = 8;

  const Grammar::Expression& node(uint32_t index) const { return grammar_.nodes()[index]; }

  std::string NameOf(size_t rule) const {
    return rule < grammar_.rules().size() ? grammar_.rules()[rule].name : "a repetition";
  }

  // A list of what became nullable, whose parents and callers are looked at again.
  void FindNullable() {
    const auto& nodes = grammar_.nodes();
    nullable_.assign(nodes.size(), 0);
    std::vector<char> rules(bodies_.size(), 0);
    std::vector<std::vector<uint32_t>> parents(nodes.size());
    std::vector<std::vector<uint32_t>> callers(bodies_.size()), owners(nodes.size());
    std::vector<uint32_t> missing(nodes.size(), 0), open;
    for (uint32_t rule = 0; rule < bodies_.size(); ++rule) owners[bodies_[rule]].push_back(rule);
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const auto& what = nodes[i];
      for (uint32_t child : what.children) parents[child].push_back(i);
      missing[i] = static_cast<uint32_t>(what.children.size());
      bool now = false;
      if (what.kind == Kind::kSequence) now = what.children.empty();
      if (what.kind == Kind::kLiteral) now = what.text.empty();
      if (what.kind == Kind::kAutomaton) now = !what.automaton->empty() && what.automaton->states()[0].accepts;
      if (what.kind == Kind::kRepeat) now = what.minimum == 0;
      if (what.kind == Kind::kRule) callers[what.rule].push_back(i);
      if (now) {
        nullable_[i] = 1;
        open.push_back(i);
      }
    }
    const auto set = [&](uint32_t i) {
      if (!nullable_[i]) {
        nullable_[i] = 1;
        open.push_back(i);
      }
    };
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      for (uint32_t parent : parents[i]) {
        if (node(parent).kind == Kind::kSequence) {
          if (--missing[parent] == 0) set(parent);
        } else {
          set(parent);
        }
      }
      for (uint32_t rule : owners[i]) {
        if (!rules[rule]) {
          rules[rule] = 1;
          for (uint32_t caller : callers[rule]) set(caller);
        }
      }
    }
  }

  void CompileRule(size_t rule) {
    RuleAutomaton automaton(&states_left_);
    const uint32_t start = automaton.AddState();
    const uint32_t end = Walk(&automaton, bodies_[rule], start, 0);
    automata_.push_back(automaton.Determinized(end));
  }

  // Adds `index` behind `from`; returns where it ends.
  uint32_t Walk(RuleAutomaton* automaton, uint32_t index, uint32_t from, int depth) {
    if (depth > kMostNested) throw Error(E_INVALIDARG, "the grammar is nested too deeply");
    const Grammar::Expression& what = node(index);
    switch (what.kind) {
      case Kind::kSequence:
        for (uint32_t child : what.children) from = Walk(automaton, child, from, depth + 1);
        return from;
      case Kind::kChoice: {
        const uint32_t to = automaton->AddState();
        for (uint32_t child : what.children) {
          automaton->AddEmpty(Walk(automaton, child, from, depth + 1), to);
        }
        return to;
      }
      case Kind::kLiteral:
        for (char c : what.text) {
          const uint32_t to = automaton->AddState();
          automaton->AddBytes(from, static_cast<uint8_t>(c), static_cast<uint8_t>(c), to);
          from = to;
        }
        return from;
      case Kind::kAutomaton: {
        const auto& states = what.automaton->states();
        const uint32_t to = automaton->AddState();
        std::vector<uint32_t> places;
        for (size_t i = 0; i < states.size(); ++i) places.push_back(automaton->AddState());
        for (size_t i = 0; i < states.size(); ++i) {
          for (const auto& edge : states[i].edges) {
            automaton->AddCharacters(places[i], edge.first, edge.last, places[edge.to]);
          }
          if (states[i].accepts) automaton->AddEmpty(places[i], to);
        }
        if (!places.empty()) automaton->AddEmpty(from, places[0]);
        return to;
      }
      case Kind::kRule: {
        const uint32_t to = automaton->AddState();
        automaton->AddCall(from, what.rule, to);
        if (nullable_[index]) automaton->AddEmpty(from, to);
        return to;
      }
      case Kind::kRepeat:
        return Repeat(automaton, what, from, depth);
    }
    return from;
  }

  uint32_t Repeat(RuleAutomaton* automaton, const Grammar::Expression& what, uint32_t from, int depth) {
    const uint32_t child = what.children[0];
    const uint32_t copies = what.maximum == Grammar::kUnbounded ? what.minimum + 1 : what.maximum;
    uint32_t rule = Grammar::kUndefined;
    if (copies > kOftenRepeated && IsLong(child)) rule = RuleFor(child);
    const auto once = [&](uint32_t at) {
      if (rule == Grammar::kUndefined) return Walk(automaton, child, at, depth + 1);
      const uint32_t to = automaton->AddState();
      automaton->AddCall(at, rule, to);
      if (nullable_[child]) automaton->AddEmpty(at, to);
      return to;
    };
    for (uint32_t i = 0; i < what.minimum; ++i) from = Step(automaton, once(Step(automaton, from)));
    const uint32_t to = automaton->AddState();
    if (what.maximum == Grammar::kUnbounded) {
      const uint32_t loop = automaton->AddState();
      automaton->AddEmpty(from, loop);
      automaton->AddEmpty(once(loop), loop);
      automaton->AddEmpty(loop, to);
      return to;
    }
    for (uint32_t i = what.minimum; i < what.maximum; ++i) {
      automaton->AddEmpty(from, to);
      from = once(Step(automaton, from));
    }
    automaton->AddEmpty(from, to);
    return to;
  }

  // Each turn costs a state even when it adds nothing, which bounds how often empty texts are repeated.
  static uint32_t Step(RuleAutomaton* automaton, uint32_t from) {
    const uint32_t to = automaton->AddState();
    automaton->AddEmpty(from, to);
    return to;
  }

  // Whether copies of it would take many states.
  bool IsLong(uint32_t index) const {
    const Grammar::Expression& what = node(index);
    if (what.kind == Kind::kRule) return false;
    if (what.kind == Kind::kLiteral) return what.text.size() > kLongToRepeat;
    return true;
  }

  uint32_t RuleFor(uint32_t index) {
    const auto [place, fresh] = repeated_.try_emplace(index, static_cast<uint32_t>(bodies_.size()));
    if (fresh) bodies_.push_back(index);
    return place->second;
  }

  // A rule is alive when a path through it calls only rules that are known to be alive.
  void FindDead() {
    const size_t count = automata_.size();
    dead_.assign(count, 1);
    std::vector<std::vector<uint32_t>> callers(count);
    for (uint32_t rule = 0; rule < count; ++rule) {
      for (const auto& state : automata_[rule]) {
        for (const auto& call : state.calls) callers[call.rule].push_back(rule);
      }
    }
    for (auto& list : callers) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    std::vector<uint32_t> open;
    std::vector<char> waiting(count, 1);
    for (uint32_t rule = 0; rule < count; ++rule) open.push_back(rule);
    size_t steps = 0;
    while (!open.empty()) {
      const uint32_t rule = open.back();
      open.pop_back();
      waiting[rule] = 0;
      if (!dead_[rule]) continue;
      if ((steps += automata_[rule].size()) > kMostSteps) throw Error(E_INVALIDARG, "the grammar is too large");
      std::vector<State> copy = automata_[rule];
      if (!TrimRule(&copy, dead_)) continue;
      dead_[rule] = 0;
      for (uint32_t caller : callers[rule]) {
        if (dead_[caller] && !waiting[caller]) {
          waiting[caller] = 1;
          open.push_back(caller);
        }
      }
    }
    if (dead_[0]) throw Error(E_INVALIDARG, "no text fulfils the constraint: its rules never come to an end");
    for (size_t rule = 0; rule < count; ++rule) {
      if (!dead_[rule]) TrimRule(&automata_[rule], dead_);
    }
  }

  // What a rule may begin with are the calls of its first state: a part that may be empty is passed by as well.
  void Rank() {
    const size_t count = automata_.size();
    std::vector<uint32_t> above(count, 0), order;
    for (size_t rule = 0; rule < count; ++rule) {
      if (dead_[rule]) continue;
      for (const auto& call : automata_[rule][0].calls) ++above[call.rule];
    }
    ranks_.assign(count, 0);
    for (uint32_t rule = 0; rule < count; ++rule) {
      if (above[rule] == 0) order.push_back(rule);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      ranks_[order[i]] = static_cast<uint32_t>(i);
      if (dead_[order[i]]) continue;
      for (const auto& call : automata_[order[i]][0].calls) {
        if (--above[call.rule] == 0) order.push_back(call.rule);
      }
    }
    if (order.size() == count) return;
    // Who is left is in a circle or behind one; walking up from any of them meets a circle.
    std::vector<uint32_t> caller(count, Grammar::kUndefined);
    for (uint32_t rule = 0; rule < count; ++rule) {
      if (dead_[rule] || above[rule] == 0) continue;
      for (const auto& call : automata_[rule][0].calls) {
        if (above[call.rule] != 0) caller[call.rule] = rule;
      }
    }
    uint32_t rule = 0;
    while (above[rule] == 0) ++rule;
    for (size_t i = 0; i < count; ++i) rule = caller[rule];
    throw Error(E_INVALIDARG,
                "left recursion: the rule '" + NameOf(rule) +
                    "' can begin with itself; write the repetition with '*' or '+' or behind the first part");
  }

  void Lay() {
    program_.rules_.resize(automata_.size());
    for (size_t rule = 0; rule < automata_.size(); ++rule) {
      GrammarProgram::Rule& laid = program_.rules_[rule];
      laid.first_state = static_cast<uint32_t>(program_.states_.size());
      laid.start = laid.first_state;
      laid.rank = ranks_[rule];
      laid.leaf = true;
      if (dead_[rule]) continue;
      laid.states = static_cast<uint32_t>(automata_[rule].size());
      for (const State& state : automata_[rule]) {
        GrammarProgram::State entry;
        entry.rule = static_cast<uint32_t>(rule);
        entry.accepts = state.accepts;
        entry.first_byte_edge = static_cast<uint32_t>(program_.byte_edges_.size());
        entry.byte_edges = static_cast<uint32_t>(state.bytes.size());
        entry.first_call = static_cast<uint32_t>(program_.calls_.size());
        entry.calls = static_cast<uint32_t>(state.calls.size());
        for (const auto& edge : state.bytes) {
          program_.byte_edges_.push_back({edge.first, edge.last, edge.to + laid.first_state});
        }
        for (const auto& call : state.calls) {
          program_.calls_.push_back({call.rule, call.to + laid.first_state});
          laid.leaf = false;
        }
        program_.states_.push_back(entry);
      }
    }
    program_.root_ = 0;
  }

  static constexpr int kMostNested = 1000;
  static constexpr size_t kMostSteps = 20000000;

  const Grammar& grammar_;
  std::vector<uint32_t> bodies_;
  std::vector<char> nullable_;  // of nodes
  std::vector<std::vector<State>> automata_;
  std::vector<char> dead_;
  std::vector<uint32_t> ranks_;
  std::map<uint32_t, uint32_t> repeated_;
  size_t states_left_ = 3 * GrammarProgram::kMostStates;
  GrammarProgram program_;
};

GrammarProgram GrammarProgram::Compile(const Grammar& grammar) { return GrammarCompiler(grammar).Compile(); }

std::string GrammarProgram::Signature(uint32_t rule) const {
  std::string text;
  const auto number = [&](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) text.push_back(static_cast<char>(value >> shift));
  };
  const Rule& which = rules_[rule];
  for (uint32_t i = 0; i < which.states; ++i) {
    const uint32_t state = which.first_state + i;
    text.push_back(states_[state].accepts ? 'A' : 'S');
    number(states_[state].byte_edges);
    for (const auto& edge : byte_edges(state)) {
      text.push_back(static_cast<char>(edge.first));
      text.push_back(static_cast<char>(edge.last));
      number(edge.to - which.first_state);
    }
  }
  return text;
}

}  // namespace owml::text
