// From a parsed pattern to the automaton of the texts that it matches. A border of the text is no character, so states
// come in layers: nothing read yet, something read, and both again behind a `$`, where no character may follow.
// Called through Pattern::Search and Pattern::Whole.
#include <array>

#include "base/error.h"
#include "text/constraint/pattern.h"

namespace owml::text {
namespace {

using Kind = PatternNode::Kind;

class Layers {
 public:
  static constexpr int kCount = 4;
  static constexpr size_t kMostSteps = 2000000;
  enum Layer { kFresh, kRead, kReadEnded, kFreshEnded };

  // A state of the pattern in every layer.
  using State = std::array<uint32_t, kCount>;

  Layers(const Pattern& pattern, bool anchors) : pattern_(pattern), count_(anchors ? kCount : 1) {}

  AutomatonBuilder& builder() { return builder_; }

  State Add() {
    State state{};
    for (int layer = 0; layer < count_; ++layer) state[layer] = builder_.AddState();
    return state;
  }
  void Empty(const State& from, const State& to) {
    for (int layer = 0; layer < count_; ++layer) builder_.AddEmpty(from[layer], to[layer]);
  }
  void Take(const State& from, const CodePointSet& set, const State& to) {
    builder_.AddEdges(from[kFresh], set, to[count_ == 1 ? kFresh : kRead]);
    if (count_ > 1) builder_.AddEdges(from[kRead], set, to[kRead]);
  }

  // Adds what leads through `node` from `from`; returns where it arrives.
  State Walk(uint32_t node, State from) {
    if (++steps_ > kMostSteps) throw Error(E_INVALIDARG, "a pattern repeats too much");
    const PatternNode& what = pattern_.nodes()[node];
    switch (what.kind) {
      case Kind::kSequence:
        for (uint32_t child : what.children) from = Walk(child, from);
        return from;
      case Kind::kCapture:
        return Walk(what.children[0], from);
      case Kind::kChoice: {
        const State to = Add();
        for (uint32_t child : what.children) Empty(Walk(child, from), to);
        return to;
      }
      case Kind::kSet: {
        const State to = Add();
        Take(from, what.set, to);
        return to;
      }
      case Kind::kTextStart: {
        const State to = Add();
        builder_.AddEmpty(from[kFresh], to[kFresh]);
        builder_.AddEmpty(from[kFreshEnded], to[kFreshEnded]);
        return to;
      }
      case Kind::kTextEnd: {
        const State to = Add();
        builder_.AddEmpty(from[kFresh], to[kFreshEnded]);
        builder_.AddEmpty(from[kFreshEnded], to[kFreshEnded]);
        builder_.AddEmpty(from[kRead], to[kReadEnded]);
        builder_.AddEmpty(from[kReadEnded], to[kReadEnded]);
        return to;
      }
      case Kind::kRepeat:
        break;
    }
    for (uint32_t i = 0; i < what.minimum; ++i) from = Walk(what.children[0], from);
    const State to = Add();
    if (what.maximum == PatternNode::kUnbounded) {
      const State loop = Add();
      Empty(from, loop);
      Empty(Walk(what.children[0], loop), loop);
      Empty(loop, to);
      return to;
    }
    for (uint32_t i = what.minimum; i < what.maximum; ++i) {
      Empty(from, to);
      from = Walk(what.children[0], from);
    }
    Empty(from, to);
    return to;
  }

  int count() const { return count_; }

 private:
  const Pattern& pattern_;
  const int count_;
  AutomatonBuilder builder_;
  size_t steps_ = 0;
};

}  // namespace

Automaton Pattern::ToAutomaton(bool search) const {
  bool anchors = false;
  for (const auto& node : nodes_) anchors |= node.kind == Kind::kTextStart || node.kind == Kind::kTextEnd;
  Layers layers(*this, anchors);
  const Layers::State start = layers.Add();
  Layers::State from = start;
  if (search) {
    from = layers.Add();
    layers.Empty(start, from);
    layers.Take(from, CodePointSet::All(), from);
  }
  const Layers::State to = layers.Walk(root_, from);
  if (search) layers.Take(to, CodePointSet::All(), to);
  const uint32_t end = layers.builder().AddState();
  for (int layer = 0; layer < layers.count(); ++layer) layers.builder().AddEmpty(to[layer], end);
  return layers.builder().Build(start[0], end);
}

}  // namespace owml::text
