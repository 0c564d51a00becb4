// A grammar over text: rules made of literals, character sets, automata, sequences, choices and repetitions.
// Written by the GBNF reader, the schema compiler and the pattern compiler; compiled by GrammarProgram.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/constraint/automaton.h"

namespace owml::text {

class Grammar {
 public:
  using Node = uint32_t;
  using Rule = uint32_t;

  struct Expression {
    enum class Kind : uint8_t {
      kSequence,   // `children` in turn; none: the empty text
      kChoice,     // one of `children`; none: nothing matches
      kLiteral,    // `text`
      kAutomaton,  // `automaton`, over code points
      kRepeat,     // children[0], `minimum` to `maximum` times
      kRule,       // `rule`
    };
    Kind kind = Kind::kSequence;
    std::vector<Node> children;
    std::string text;
    std::shared_ptr<const Automaton> automaton;
    uint32_t minimum = 0;
    uint32_t maximum = 0;
    Rule rule = 0;
  };
  struct NamedRule {
    std::string name;
    Node body = kUndefined;
  };

  static constexpr uint32_t kUndefined = UINT32_MAX;
  static constexpr uint32_t kUnbounded = UINT32_MAX;
  static constexpr size_t kMostNodes = 1000000;

  // The first rule is the root. Names must be unique; the caller sees to it.
  Rule AddRule(std::string name);
  void Define(Rule rule, Node body) { rules_[rule].body = body; }

  Node Sequence(std::vector<Node> children);
  Node Choice(std::vector<Node> children);
  Node Literal(std::string text);  // well-formed UTF-8
  Node Set(const CodePointSet& set);
  Node Of(std::shared_ptr<const Automaton> automaton);
  Node Repeat(Node what, uint32_t minimum, uint32_t maximum);
  Node Optional(Node what) { return Repeat(what, 0, 1); }
  Node Call(Rule rule);
  Node Empty() { return Sequence({}); }
  Node Nothing() { return Choice({}); }

  const std::vector<NamedRule>& rules() const { return rules_; }
  const std::vector<Expression>& nodes() const { return nodes_; }

 private:
  Node Add(Expression expression);

  std::vector<NamedRule> rules_;
  std::vector<Expression> nodes_;
};

}  // namespace owml::text
