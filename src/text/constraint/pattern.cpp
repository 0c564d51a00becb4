// The parser of patterns.
// Called by the schema compiler, the grammar compiler and the triggers.
#include "text/constraint/pattern.h"

#include <map>
#include <optional>

#include "base/error.h"
#include "text/unicode/classes.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr size_t kMostRanges = 1000000;

CodePointSet SetOf(std::initializer_list<CodePointSet::Range> ranges) {
  CodePointSet set;
  for (const auto& range : ranges) set.Add(range.first, range.last);
  return set;
}

const CodePointSet& Digits() {
  static const CodePointSet set = SetOf({{'0', '9'}});
  return set;
}
const CodePointSet& WordCharacters() {
  static const CodePointSet set = SetOf({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  return set;
}
const CodePointSet& Spaces() {
  static const CodePointSet set = SetOf({{9, 13},
                                         {' ', ' '},
                                         {0xA0, 0xA0},
                                         {0x1680, 0x1680},
                                         {0x2000, 0x200A},
                                         {0x2028, 0x2029},
                                         {0x202F, 0x202F},
                                         {0x205F, 0x205F},
                                         {0x3000, 0x3000},
                                         {0xFEFF, 0xFEFF}});
  return set;
}
const CodePointSet& LineEnds() {
  static const CodePointSet set = SetOf({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
  return set;
}

bool IsDigit(char32_t code) { return code >= '0' && code <= '9'; }

int HexValue(char32_t code) {
  if (IsDigit(code)) return static_cast<int>(code - '0');
  if (code >= 'a' && code <= 'f') return static_cast<int>(code - 'a' + 10);
  if (code >= 'A' && code <= 'F') return static_cast<int>(code - 'A' + 10);
  return -1;
}

}  // namespace

class PatternParser {
 public:
  PatternParser(std::string_view text, const std::string& where, bool trigger)
      : source_(text), where_(where), trigger_(trigger) {}

  Pattern Parse() {
    if (source_.size() > Pattern::kLongest) {
      throw Error(E_INVALIDARG, where_ + ": a pattern of " + std::to_string(source_.size()) + " bytes is longer than " +
                                    std::to_string(Pattern::kLongest));
    }
    if (ValidPrefix(source_) < source_.size()) throw Error(E_INVALIDARG, where_ + ": a pattern is no valid UTF-8");
    for (size_t at = 0; at < source_.size();) {
      const Character character = DecodeCharacter(source_, at);
      at += character.length;
      text_.push_back(character.code);
    }
    pattern_.root_ = Choice(0);
    if (!AtEnd()) Fail("has ')' without '('");
    return std::move(pattern_);
  }

 private:
  using Node = PatternNode;
  using Kind = PatternNode::Kind;

  [[noreturn]] void Fail(const std::string& what) const {
    std::string shown(source_.substr(0, 200));
    shown.resize(ValidPrefix(shown));
    throw Error(E_INVALIDARG,
                where_ + ": the pattern \"" + shown + "\" " + what + ", at character " + std::to_string(at_));
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  char32_t Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0x110000; }
  bool Take(char32_t code) {
    if (Peek() != code) return false;
    ++at_;
    return true;
  }
  char32_t Next() {
    if (AtEnd()) Fail("ends too early");
    return text_[at_++];
  }

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
      Fail("is nested more than " + std::to_string(Pattern::kMostNested) + " deep");
    }
    Node node;
    node.kind = Kind::kChoice;
    node.children.push_back(Sequence(depth));
    while (Take('|')) node.children.push_back(Sequence(depth));
    return node.children.size() == 1 ? node.children[0] : Add(std::move(node));
  }

  uint32_t Sequence(int depth) {
    Node node;
    while (!AtEnd() && Peek() != '|' && Peek() != ')') node.children.push_back(Term(depth));
    return node.children.size() == 1 ? node.children[0] : Add(std::move(node));
  }

  uint32_t Term(int depth) {
    const char32_t first = Next();
    switch (first) {
      case '^':
      case '$': {
        Node node;
        node.kind = first == '^' ? Kind::kTextStart : Kind::kTextEnd;
        if (IsQuantifier()) Fail("repeats a border of the text");
        return Add(std::move(node));
      }
      case '(':
        return Repeats(Group(depth));
      case '*':
      case '+':
      case '?':
        --at_;
        Fail("has nothing to repeat");
      case '{':
        --at_;
        if (IsQuantifier()) Fail("has nothing to repeat");
        ++at_;
        return Repeats(AddSet(CodePointSet::Of('{', '{')));
      case '[':
        return Repeats(AddSet(Class()));
      case '.':
        return Repeats(AddSet(LineEnds().Complement()));
      case '\\':
        return Repeats(AddSet(Escape(false)));
      default:
        return Repeats(AddSet(CodePointSet::Of(first, first)));
    }
  }

  uint32_t Group(int depth) {
    Node node;
    node.kind = Kind::kCapture;
    bool captures = true;
    if (Take('?')) {
      if (Take(':')) {
        captures = false;
      } else if (Peek() == '=' || Peek() == '!') {
        if (trigger_ && depth == 0) return LookAhead(Next() == '!');
        Fail("uses look-ahead, which is not supported");
      } else if (Take('<')) {
        if (Peek() == '=' || Peek() == '!') Fail("uses look-behind, which is not supported");
        size_t length = 0;
        while (!Take('>')) {
          const char32_t code = Next();
          if (!WordCharacters().Contains(code) && code != '$') Fail("has a group name with a strange character");
          ++length;
        }
        if (length == 0) Fail("has a group with an empty name");
      } else {
        Fail("has an unknown kind of group");
      }
    }
    if (captures) node.capture = ++captures_;
    const uint32_t inner = Choice(depth + 1);
    if (!Take(')')) Fail("has '(' without ')'");
    if (!captures) return inner;
    node.children.push_back(inner);
    return Add(std::move(node));
  }

  // Behind "(?=" or "(?!". What must follow is read like the rest; what must not follow becomes all that differs from
  // it.
  uint32_t LookAhead(bool negated) {
    const uint32_t inner = Choice(1);
    if (!Take(')')) Fail("has '(' without ')'");
    if (!AtEnd()) Fail("uses look-ahead before its end, which is not supported");
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
    if (depth > Pattern::kMostNested) Fail("uses a look-ahead of unlimited length, which is not supported");
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
    const char32_t first = Peek();
    if (first == '*' || first == '+' || first == '?') return true;
    if (first != '{') return false;
    size_t ahead = 1;
    if (!IsDigit(Peek(ahead))) return false;
    while (IsDigit(Peek(ahead))) ++ahead;
    if (Peek(ahead) == ',') ++ahead;
    while (IsDigit(Peek(ahead))) ++ahead;
    return Peek(ahead) == '}';
  }

  uint32_t Count() {
    uint64_t value = 0;
    while (IsDigit(Peek())) {
      value = value * 10 + (Next() - '0');
      if (value > Pattern::kMostRepeats) Fail("repeats more than " + std::to_string(Pattern::kMostRepeats) + " times");
    }
    return static_cast<uint32_t>(value);
  }

  uint32_t Repeats(uint32_t what) {
    if (!IsQuantifier()) return what;
    Node node;
    node.kind = Kind::kRepeat;
    node.children.push_back(what);
    switch (Next()) {
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
        if (Take(',')) node.maximum = IsDigit(Peek()) ? Count() : Node::kUnbounded;
        Take('}');
        if (node.maximum < node.minimum) Fail("repeats at least more often than at most");
    }
    node.lazy = Take('?');
    if (IsQuantifier()) Fail("repeats a repetition");
    return Add(std::move(node));
  }

  CodePointSet Class() {
    const bool negated = Take('^');
    std::vector<CodePointSet::Range> ranges;
    while (!Take(']')) {
      if (ranges.size() > kMostRanges) Fail("has a class that is too large");
      if (AtEnd()) Fail("has '[' without ']'");
      bool whole = false;
      const CodePointSet first = Atom(&whole);
      if (Peek() == '-' && Peek(1) != ']' && at_ + 1 < text_.size()) {
        ++at_;
        bool other_whole = false;
        const CodePointSet last = Atom(&other_whole);
        if (whole || other_whole) Fail("has a range that begins or ends with a class");
        const char32_t low = first.ranges()[0].first, high = last.ranges()[0].first;
        if (high < low) Fail("has a range that ends before it begins");
        ranges.push_back({low, high});
      } else {
        ranges.insert(ranges.end(), first.ranges().begin(), first.ranges().end());
      }
    }
    const CodePointSet set = CodePointSet::OfRanges(std::move(ranges));
    return negated ? set.Complement() : set;
  }

  // One member of a class; `whole` when it is a class itself.
  CodePointSet Atom(bool* whole) {
    const char32_t code = Next();
    if (code != '\\') return CodePointSet::Of(code, code);
    const char32_t kind = Peek();
    *whole = kind == 'd' || kind == 'D' || kind == 'w' || kind == 'W' || kind == 's' || kind == 'S' || kind == 'p' ||
             kind == 'P';
    return Escape(true);
  }

  CodePointSet Escape(bool in_class) {
    const char32_t kind = Next();
    const auto one = [](char32_t code) { return CodePointSet::Of(code, code); };
    switch (kind) {
      case 'd':
        return Digits();
      case 'D':
        return Digits().Complement();
      case 'w':
        return WordCharacters();
      case 'W':
        return WordCharacters().Complement();
      case 's':
        return Spaces();
      case 'S':
        return Spaces().Complement();
      case 'p':
      case 'P':
        return Property(kind == 'P');
      case 't':
        return one('\t');
      case 'n':
        return one('\n');
      case 'v':
        return one('\v');
      case 'f':
        return one('\f');
      case 'r':
        return one('\r');
      case '0':
        if (IsDigit(Peek())) Fail("has an octal escape");
        return one(0);
      case 'c': {
        const char32_t letter = Next() | 0x20;
        if (letter < 'a' || letter > 'z') Fail("has '\\c' without a letter");
        return one(letter - 'a' + 1);
      }
      case 'x':
        return one(Hex(2));
      case 'u':
        return one(UnicodeEscape());
      case 'b':
        if (in_class) return one('\b');
        Fail("uses a word boundary, which is not supported");
      case 'B':
        Fail("uses a word boundary, which is not supported");
      case 'k':
        Fail("uses a back reference, which is not supported");
      default:
        break;
    }
    if (kind >= '1' && kind <= '9') Fail("uses a back reference, which is not supported");
    if (WordCharacters().Contains(kind)) Fail(std::string("has the unknown escape '\\") + ToUtf8(kind) + "'");
    return one(kind);
  }

  char32_t Hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = HexValue(Peek());
      if (digit < 0) Fail("has an escape with too few hexadecimal digits");
      ++at_;
      value = value * 16 + static_cast<char32_t>(digit);
    }
    return value;
  }

  char32_t UnicodeEscape() {
    if (Take('{')) {
      char32_t value = 0;
      size_t digits = 0;
      while (!Take('}')) {
        value = value * 16 + Hex(1);
        if (++digits > 8 || value > kLastCodePoint) Fail("has a character beyond U+10FFFF");
      }
      if (digits == 0) Fail("has an empty '\\u{}'");
      return value;
    }
    const char32_t high = Hex(4);
    if (high < 0xD800 || high > 0xDBFF || Peek() != '\\' || Peek(1) != 'u') return high;
    const size_t before = at_;
    at_ += 2;
    const char32_t low = Hex(4);
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    at_ = before;
    return high;
  }

  CodePointSet Property(bool negated) {
    if (!Take('{')) Fail("has '\\p' without '{'");
    std::string name;
    while (!Take('}')) name += ToUtf8(Next());
    for (const char* prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
      if (name.starts_with(prefix)) {
        name.erase(0, std::string_view(prefix).size());
        break;
      }
    }
    const auto [place, fresh] = properties_.try_emplace(std::move(name));
    if (fresh && !FindProperty(place->first, &place->second)) {
      Fail("names the unknown property \"" + place->first + "\"");
    }
    return negated ? place->second.Complement() : place->second;
  }

  static constexpr uint32_t kUnmade = UINT32_MAX;

  std::string_view source_;
  const std::string& where_;
  const bool trigger_;
  std::vector<char32_t> text_;
  size_t at_ = 0;
  uint32_t captures_ = 0;
  std::map<std::string, CodePointSet> properties_;  // finding one takes a while
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
