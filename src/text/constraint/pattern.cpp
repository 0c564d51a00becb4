// The parser of patterns.
// Called by the schema compiler, the grammar compiler and the triggers.
#include "text/constraint/pattern.h"

#include "text/constraint/pattern_classes.h"
#include "text/constraint/pattern_text.h"
#include "text/unicode/utf8.h"

namespace owml::text {

class PatternParser {
 public:
  PatternParser(std::string_view text, const std::string& where, bool trigger)
      : trigger_(trigger), text_(text, where), classes_(&text_) {}

  Pattern Parse() {
    pattern_.root_ = Choice(0);
    if (!text_.AtEnd()) text_.Fail("has ')' without '('");
    return std::move(pattern_);
  }

 private:
  using Node = PatternNode;
  using Kind = PatternNode::Kind;

  uint32_t Add(Node node) {
    pattern_.nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(pattern_.nodes_.size() - 1);
  }
  uint32_t AddSet(CodePointSet set) {
    Node node;
    node.kind = Kind::kSet;
    node.set = std::move(set);
    return Add(std::move(node));
  }

  uint32_t Choice(int depth) {
    if (depth > Pattern::kMostNested) {
      text_.Fail("is nested more than " + std::to_string(Pattern::kMostNested) + " deep");
    }
    Node node;
    node.kind = Kind::kChoice;
    node.children.push_back(Sequence(depth));
    while (text_.Take('|')) node.children.push_back(Sequence(depth));
    return node.children.size() == 1 ? node.children[0] : Add(std::move(node));
  }

  uint32_t Sequence(int depth) {
    Node node;
    while (!text_.AtEnd() && text_.Peek() != '|' && text_.Peek() != ')') node.children.push_back(Term(depth));
    return node.children.size() == 1 ? node.children[0] : Add(std::move(node));
  }

  uint32_t Term(int depth) {
    const char32_t first = text_.Next();
    switch (first) {
      case '^':
      case '$': {
        Node node;
        node.kind = first == '^' ? Kind::kTextStart : Kind::kTextEnd;
        if (IsQuantifier()) text_.Fail("repeats a border of the text");
        return Add(std::move(node));
      }
      case '(':
        return Repeats(Group(depth));
      case '*':
      case '+':
      case '?':
        text_.GoTo(text_.position() - 1);
        text_.Fail("has nothing to repeat");
      case '{':
        text_.GoTo(text_.position() - 1);
        if (IsQuantifier()) text_.Fail("has nothing to repeat");
        text_.Next();
        return Repeats(AddSet(CodePointSet::Of('{', '{')));
      case '[':
        return Repeats(AddSet(classes_.Class()));
      case '.':
        return Repeats(AddSet(LineEnds().Complement()));
      case '\\':
        return Repeats(AddSet(classes_.Escape(false)));
      default:
        return Repeats(AddSet(CodePointSet::Of(first, first)));
    }
  }

  uint32_t Group(int depth) {
    Node node;
    node.kind = Kind::kCapture;
    bool captures = true;
    if (text_.Take('?')) {
      if (text_.Take(':')) {
        captures = false;
      } else if (text_.Peek() == '=' || text_.Peek() == '!') {
        if (trigger_ && depth == 0) return LookAhead(text_.Next() == '!');
        text_.Fail("uses look-ahead, which is not supported");
      } else if (text_.Take('<')) {
        if (text_.Peek() == '=' || text_.Peek() == '!') text_.Fail("uses look-behind, which is not supported");
        size_t length = 0;
        while (!text_.Take('>')) {
          const char32_t code = text_.Next();
          if (!WordCharacters().Contains(code) && code != '$') text_.Fail("has a group name with a strange character");
          ++length;
        }
        if (length == 0) text_.Fail("has a group with an empty name");
      } else {
        text_.Fail("has an unknown kind of group");
      }
    }
    if (captures) node.capture = ++captures_;
    const uint32_t inner = Choice(depth + 1);
    if (!text_.Take(')')) text_.Fail("has '(' without ')'");
    if (!captures) return inner;
    node.children.push_back(inner);
    return Add(std::move(node));
  }

  // Behind "(?=" or "(?!". What must follow is read like the rest; what must not follow becomes all that differs from
  // it.
  uint32_t LookAhead(bool negated) {
    const uint32_t inner = Choice(1);
    if (!text_.Take(')')) text_.Fail("has '(' without ')'");
    if (!text_.AtEnd()) text_.Fail("uses look-ahead before its end, which is not supported");
    if (!negated) return inner;
    Pattern ahead = pattern_;
    ahead.root_ = inner;
    const Automaton automaton = ahead.Whole();
    const auto& states = automaton.states();
    if (states.empty()) return Add(Node());
    // From the end: only what has no circles is decided after a bounded text.
    std::vector<uint32_t> nodes(states.size(), kUnmade);
    return Differing(automaton, 0, 0, &nodes);
  }

  uint32_t Differing(const Automaton& automaton, uint32_t state, int depth, std::vector<uint32_t>* nodes) {
    if (depth > Pattern::kMostNested) text_.Fail("uses a look-ahead of unlimited length, which is not supported");
    if ((*nodes)[state] != kUnmade) return (*nodes)[state];
    Node choice;
    choice.kind = Kind::kChoice;
    CodePointSet taken;
    if (!automaton.states()[state].accepts) {
      for (const auto& edge : automaton.states()[state].edges) {
        const CodePointSet set = CodePointSet::Of(edge.first, edge.last);
        taken.Add(set);
        Node sequence;
        sequence.children = {AddSet(set), Differing(automaton, edge.to, depth + 1, nodes)};
        choice.children.push_back(Add(std::move(sequence)));
      }
      choice.children.push_back(AddSet(taken.Complement()));
    } else {
      choice.children.push_back(AddSet({}));  // it follows: no match
    }
    return (*nodes)[state] = Add(std::move(choice));
  }

  // Whether what follows is a quantifier; a brace that is none stands for itself.
  bool IsQuantifier() const {
    const char32_t first = text_.Peek();
    if (first == '*' || first == '+' || first == '?') return true;
    if (first != '{') return false;
    size_t ahead = 1;
    if (!IsDigit(text_.Peek(ahead))) return false;
    while (IsDigit(text_.Peek(ahead))) ++ahead;
    if (text_.Peek(ahead) == ',') ++ahead;
    while (IsDigit(text_.Peek(ahead))) ++ahead;
    return text_.Peek(ahead) == '}';
  }

  uint32_t Count() {
    uint64_t value = 0;
    while (IsDigit(text_.Peek())) {
      value = value * 10 + (text_.Next() - '0');
      if (value > Pattern::kMostRepeats)
        text_.Fail("repeats more than " + std::to_string(Pattern::kMostRepeats) + " times");
    }
    return static_cast<uint32_t>(value);
  }

  uint32_t Repeats(uint32_t what) {
    if (!IsQuantifier()) return what;
    Node node;
    node.kind = Kind::kRepeat;
    node.children.push_back(what);
    switch (text_.Next()) {
      case '*':
        break;
      case '+':
        node.minimum = 1;
        break;
      case '?':
        node.maximum = 1;
        break;
      default:
        node.minimum = Count();
        node.maximum = node.minimum;
        if (text_.Take(',')) node.maximum = IsDigit(text_.Peek()) ? Count() : Node::kUnbounded;
        text_.Take('}');
        if (node.maximum < node.minimum) text_.Fail("repeats at least more often than at most");
    }
    node.lazy = text_.Take('?');
    if (IsQuantifier()) text_.Fail("repeats a repetition");
    return Add(std::move(node));
  }

  static constexpr uint32_t kUnmade = UINT32_MAX;

  const bool trigger_;
  PatternText text_;
  PatternClassReader classes_;
  uint32_t captures_ = 0;
  Pattern pattern_;
};

Pattern Pattern::Parse(std::string_view text, const std::string& where) {
  return PatternParser(text, where, false).Parse();
}

Pattern Pattern::ParseTrigger(std::string_view text, const std::string& where) {
  return PatternParser(text, where, true).Parse();
}

Pattern Pattern::Literal(std::string_view text) {
  Pattern pattern;
  PatternNode sequence;
  for (size_t at = 0; at < text.size();) {
    const Character character = DecodeCharacter(text, at);
    at += character.length;
    PatternNode node;
    node.kind = PatternNode::Kind::kSet;
    node.set = CodePointSet::Of(character.code, character.code);
    sequence.children.push_back(static_cast<uint32_t>(pattern.nodes_.size()));
    pattern.nodes_.push_back(std::move(node));
  }
  pattern.root_ = static_cast<uint32_t>(pattern.nodes_.size());
  pattern.nodes_.push_back(std::move(sequence));
  return pattern;
}

}  // namespace owml::text
