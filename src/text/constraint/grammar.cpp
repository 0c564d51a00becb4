// Making the expressions of a grammar.
// Called by its writers.
#include "text/constraint/grammar.h"

#include "base/error.h"

namespace owml::text {

using Kind = Grammar::Expression::Kind;

Grammar::Rule Grammar::AddRule(std::string name) {
  if (rules_.size() >= kMostNodes) throw Error(E_INVALIDARG, "a grammar has too many rules");
  rules_.push_back({std::move(name), kUndefined});
  return static_cast<Rule>(rules_.size() - 1);
}

Grammar::Node Grammar::Add(Expression expression) {
  if (nodes_.size() >= kMostNodes) {
    throw Error(E_INVALIDARG, "a grammar has more than " + std::to_string(kMostNodes) + " parts");
  }
  nodes_.push_back(std::move(expression));
  return static_cast<Node>(nodes_.size() - 1);
}

Grammar::Node Grammar::Sequence(std::vector<Node> children) {
  if (children.size() == 1) return children[0];
  Expression expression;
  expression.children = std::move(children);
  return Add(std::move(expression));
}

Grammar::Node Grammar::Choice(std::vector<Node> children) {
  if (children.size() == 1) return children[0];
  Expression expression;
  expression.kind = Kind::kChoice;
  expression.children = std::move(children);
  return Add(std::move(expression));
}

Grammar::Node Grammar::Literal(std::string text) {
  Expression expression;
  expression.kind = Kind::kLiteral;
  expression.text = std::move(text);
  return Add(std::move(expression));
}

Grammar::Node Grammar::Set(const CodePointSet& set) {
  AutomatonBuilder builder;
  const uint32_t start = builder.AddState(), end = builder.AddState();
  builder.AddEdges(start, set, end);
  return Of(std::make_shared<Automaton>(builder.Build(start, end)));
}

Grammar::Node Grammar::Of(std::shared_ptr<const Automaton> automaton) {
  Expression expression;
  expression.kind = Kind::kAutomaton;
  expression.automaton = std::move(automaton);
  return Add(std::move(expression));
}

Grammar::Node Grammar::Repeat(Node what, uint32_t minimum, uint32_t maximum) {
  Expression expression;
  expression.kind = Kind::kRepeat;
  expression.children.push_back(what);
  expression.minimum = minimum;
  expression.maximum = maximum;
  return Add(std::move(expression));
}

Grammar::Node Grammar::Call(Rule rule) {
  Expression expression;
  expression.kind = Kind::kRule;
  expression.rule = rule;
  return Add(std::move(expression));
}

}  // namespace owml::text
