// The parser of regular expressions: Oniguruma's own syntax.
// Called by Regex::Compile.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/unicode/classes.h"
#include "text/unicode/regex_syntax.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

using Node = RegexNode;
using NodePtr = std::unique_ptr<RegexNode>;

NodePtr Make(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

NodePtr MakeSet(CodePointSet set) {
  auto node = Make(Node::Kind::kSet);
  node->set = std::move(set);
  return node;
}

struct Options {
  bool no_case = false;
  bool dot_all = false;
  bool extended = false;
};

class Parser {
 public:
  Parser(std::string_view pattern, const std::string& label) : pattern_(pattern), label_(label) {}

  NodePtr Parse() {
    const size_t valid = ValidPrefix(pattern_);
    if (valid < pattern_.size()) {
      at_ = valid;
      Fail("is not well-formed UTF-8");
    }
    NodePtr node = Alternation(0);
    if (at_ < pattern_.size()) Fail("has ')' without '('");
    return node;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    ThrowBadData(label_,
                 "the regular expression " + Quoted(pattern_) + " " + what + ", at byte " + std::to_string(at_));
  }

  bool AtEnd() const { return at_ >= pattern_.size(); }
  char Peek() const { return pattern_[at_]; }
  bool Looking(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool Take(std::string_view text) {
    if (!Looking(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t TakeCharacter() {
    if (AtEnd()) Fail("ends too early");
    const Character character = DecodeCharacter(pattern_, at_);
    at_ += character.length;
    return character.code;
  }

  NodePtr Alternation(int depth) {
    if (depth > kRegexMaxDepth) Fail("is nested more than " + std::to_string(kRegexMaxDepth) + " deep");
    const Options before = options_;
    std::vector<NodePtr> branches;
    branches.push_back(Concatenation(depth));
    while (Take("|")) branches.push_back(Concatenation(depth));
    options_ = before;
    if (branches.size() == 1) return std::move(branches[0]);
    auto node = Make(Node::Kind::kAlternate);
    node->children = std::move(branches);
    return node;
  }

  NodePtr Concatenation(int depth) {
    auto node = Make(Node::Kind::kConcat);
    while (!AtEnd() && Peek() != '|' && Peek() != ')') {
      if (options_.extended) {
        if (static_cast<uint8_t>(Peek()) < 0x80 && IsWhiteSpace(static_cast<uint8_t>(Peek()))) {
          ++at_;
          continue;
        }
        if (Peek() == '#') {
          while (!AtEnd() && Peek() != '\n') ++at_;
          continue;
        }
      }
      NodePtr atom = Atom(depth);
      if (!atom) continue;
      node->children.push_back(Quantified(std::move(atom)));
    }
    if (node->children.empty()) return Make(Node::Kind::kEmpty);
    if (node->children.size() == 1) return std::move(node->children[0]);
    return node;
  }

  NodePtr Quantified(NodePtr atom) {
    int stacked = 0;
    for (;;) {
      if (AtEnd()) return atom;
      uint32_t minimum = 0;
      uint32_t maximum = kRegexUnbounded;
      bool interval = false;
      if (Take("*")) {
      } else if (Take("+")) {
        minimum = 1;
      } else if (Take("?")) {
        maximum = 1;
      } else if (Peek() == '{' && Interval(&minimum, &maximum)) {
        interval = true;
      } else {
        return atom;
      }
      if (++stacked > 4) Fail("has too many quantifiers in a row");
      auto repeat = Make(Node::Kind::kRepeat);
      repeat->minimum = minimum;
      repeat->maximum = maximum;
      if (Take("?")) {
        repeat->greed = Node::Greed::kLazy;
      } else if (!interval && Take("+")) {
        repeat->greed = Node::Greed::kPossessive;
      }
      repeat->children.push_back(std::move(atom));
      atom = std::move(repeat);
    }
  }

  // "{2}", "{2,}", "{,3}", "{2,3}"; anything else is text.
  bool Interval(uint32_t* minimum, uint32_t* maximum) {
    const size_t start = at_;
    ++at_;
    const std::optional<uint32_t> low = Number();
    std::optional<uint32_t> high = low;
    bool comma = false;
    if (Take(",")) {
      comma = true;
      high = Number();
    }
    if (!Take("}") || (!low && !high)) {
      at_ = start;
      return false;
    }
    *minimum = low.value_or(0);
    *maximum = high ? *high : (comma ? kRegexUnbounded : *low);
    if (*minimum > kRegexMaxRepeat || (*maximum != kRegexUnbounded && *maximum > kRegexMaxRepeat)) {
      Fail("repeats more than " + std::to_string(kRegexMaxRepeat) + " times");
    }
    if (*maximum < *minimum) Fail("has an interval that ends before it begins");
    return true;
  }

  std::optional<uint32_t> Number() {
    std::optional<uint32_t> number;
    while (!AtEnd() && Peek() >= '0' && Peek() <= '9') {
      number = std::min<uint32_t>(number.value_or(0) * 10 + static_cast<uint32_t>(Peek() - '0'), 10000000);
      ++at_;
    }
    return number;
  }

  NodePtr One(CodePointSet set) const { return MakeSet(options_.no_case ? set.WithoutCase() : std::move(set)); }
  NodePtr Literal(char32_t code) const { return One(CodePointSet::Of(code, code)); }

  NodePtr Assert(Node::Assertion assertion) const {
    auto node = Make(Node::Kind::kAssertion);
    node->assertion = assertion;
    return node;
  }

  // Null where nothing is to be matched (comments, options).
  NodePtr Atom(int depth) {
    const char c = Peek();
    switch (c) {
      case '(':
        ++at_;
        return Group(depth);
      case '[':
        ++at_;
        return One(Class(depth));
      case '.':
        ++at_;
        return MakeSet(options_.dot_all ? CodePointSet::All() : CodePointSet::Of('\n', '\n').Complement());
      case '^':
        ++at_;
        return Assert(Node::Assertion::kLineStart);
      case '$':
        ++at_;
        return Assert(Node::Assertion::kLineEnd);
      case '*':
      case '+':
      case '?':
        Fail("has a quantifier with nothing before it");
      case '\\':
        return Escape();
      default:
        return Literal(TakeCharacter());
    }
  }

  NodePtr Group(int depth) {
    NodePtr node;
    if (!Take("?")) {
      node = Alternation(depth + 1);
    } else if (Take(":")) {
      node = Alternation(depth + 1);
    } else if (Take("#")) {
      while (!AtEnd() && Peek() != ')') ++at_;
      Close();
      return nullptr;
    } else if (Take("=")) {
      node = Around(Node::Kind::kLookahead, false, depth);
    } else if (Take("!")) {
      node = Around(Node::Kind::kLookahead, true, depth);
    } else if (Take("<=")) {
      node = Around(Node::Kind::kLookbehind, false, depth);
    } else if (Take("<!")) {
      node = Around(Node::Kind::kLookbehind, true, depth);
    } else if (Take(">")) {
      node = Around(Node::Kind::kAtomic, false, depth);
    } else if (Take("<")) {
      while (!AtEnd() && Peek() != '>' && Peek() != ')') ++at_;
      if (!Take(">")) Fail("has a group name without '>'");
      node = Alternation(depth + 1);
    } else {
      return OptionGroup(depth);
    }
    Close();
    return node;
  }

  void Close() {
    if (!Take(")")) Fail("lacks ')'");
  }

  NodePtr Around(Node::Kind kind, bool negated, int depth) {
    auto node = Make(kind);
    node->negated = negated;
    node->children.push_back(Alternation(depth + 1));
    return node;
  }

  // (?i), (?i-m:...): the options hold to the end of the group around them.
  NodePtr OptionGroup(int depth) {
    Options options = options_;
    bool on = true;
    for (;;) {
      const char32_t letter = TakeCharacter();
      if (letter == '-') {
        on = false;
      } else if (letter == 'i') {
        options.no_case = on;
      } else if (letter == 'm') {
        options.dot_all = on;
      } else if (letter == 'x') {
        options.extended = on;
      } else if (letter == ')') {
        options_ = options;
        return Alternation(depth + 1);  // what follows belongs to it, alternatives too
      } else if (letter == ':') {
        const Options before = options_;
        options_ = options;
        NodePtr node = Alternation(depth + 1);
        options_ = before;
        Close();
        return node;
      } else {
        --at_;
        Fail("has an unknown kind of group");
      }
    }
  }

  NodePtr Escape() {
    ++at_;
    if (AtEnd()) Fail("ends with '\\'");
    switch (Peek()) {
      case 'A':
        ++at_;
        return Assert(Node::Assertion::kTextStart);
      case 'z':
        ++at_;
        return Assert(Node::Assertion::kTextEnd);
      case 'Z':
        ++at_;
        return Assert(Node::Assertion::kLastLineEnd);
      case 'b':
        ++at_;
        return Assert(Node::Assertion::kWordBorder);
      case 'B':
        ++at_;
        return Assert(Node::Assertion::kNoWordBorder);
      default:
        break;
    }
    CodePointSet set;
    if (NamedClass(&set)) return One(std::move(set));
    return Literal(EscapedCharacter());
  }

  // \s, \D, \p{L}, ...; `at_` is behind the backslash.
  bool NamedClass(CodePointSet* set) {
    const char c = Peek();
    switch (c) {
      case 's':
      case 'S':
        *set = CodePointSet::OfCategories(kWhiteSpace);
        break;
      case 'd':
      case 'D':
        *set = CodePointSet::OfCategories(Mask(kNd));
        break;
      case 'w':
      case 'W':
        *set = CodePointSet::OfPredicate(IsWord);
        break;
      case 'h':
      case 'H':
        FindProperty("xdigit", set);
        break;
      case 'p':
      case 'P': {
        ++at_;
        if (!Take("{")) Fail("has \\p without '{'");
        const bool negated = Take("^");
        const size_t end = pattern_.find('}', at_);
        if (end == std::string_view::npos) Fail("has \\p{ without '}'");
        const std::string_view name = pattern_.substr(at_, end - at_);
        if (!FindProperty(name, set)) Fail("names an unknown property " + Quoted(name));
        at_ = end + 1;
        if (negated != (c == 'P')) *set = set->Complement();
        return true;
      }
      default:
        return false;
    }
    ++at_;
    if (c >= 'A' && c <= 'Z') *set = set->Complement();
    return true;
  }

  char32_t Hexadecimal(size_t most) {
    char32_t value = 0;
    size_t digits = 0;
    while (!AtEnd() && digits < most) {
      const char c = Peek();
      int digit = 0;
      if (c >= '0' && c <= '9') {
        digit = c - '0';
      } else if ((c | 32) >= 'a' && (c | 32) <= 'f') {
        digit = (c | 32) - 'a' + 10;
      } else {
        break;
      }
      value = value * 16 + static_cast<char32_t>(digit);
      ++digits;
      ++at_;
    }
    if (digits == 0) Fail("has an escape without digits");
    if (value > kLastCodePoint || (value >= 0xD800 && value <= 0xDFFF)) Fail("names a character that does not exist");
    return value;
  }

  char32_t EscapedCharacter() {
    const char32_t c = TakeCharacter();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'v':
        return '\v';
      case 'f':
        return '\f';
      case 'a':
        return '\a';
      case 'e':
        return 0x1B;
      case '0':
        return 0;
      case 'u':
        return Hexadecimal(4);
      case 'x': {
        if (!Take("{")) return Hexadecimal(2);
        const char32_t value = Hexadecimal(8);
        if (!Take("}")) Fail("has \\x{ without '}'");
        return value;
      }
      default:
        break;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '1' && c <= '9')) {
      --at_;
      Fail("has an escape that is not supported");
    }
    return c;
  }

  // The inside of [...], `at_` is behind the bracket.
  CodePointSet Class(int depth) {
    if (depth > kRegexMaxDepth) Fail("is nested more than " + std::to_string(kRegexMaxDepth) + " deep");
    const bool negated = Take("^");
    std::optional<CodePointSet> intersection;
    CodePointSet set;
    bool first = true;
    for (;; first = false) {
      if (AtEnd()) Fail("lacks ']'");
      if (Peek() == ']' && !first) {
        ++at_;
        break;
      }
      if (Take("&&")) {
        intersection = intersection ? intersection->Intersection(set) : set;
        set = CodePointSet();
        continue;
      }
      if (Looking("[:")) {
        CodePointSet named;
        if (PosixClass(&named)) {
          set.Add(named);
          continue;
        }
      }
      if (Take("[")) {
        set.Add(Class(depth + 1));
        continue;
      }
      CodePointSet named;
      char32_t low = 0;
      if (Peek() == '\\') {
        ++at_;
        if (AtEnd()) Fail("ends with '\\'");
        if (NamedClass(&named)) {
          set.Add(named);
          continue;
        }
        low = Take("b") ? 8 : EscapedCharacter();
      } else {
        low = TakeCharacter();
      }
      char32_t high = low;
      if (Looking("-") && !Looking("-]") && !Looking("-&&") && !Looking("-[")) {
        ++at_;
        if (AtEnd()) Fail("lacks ']'");
        if (Peek() == '\\') {
          ++at_;
          if (AtEnd()) Fail("ends with '\\'");
          if (NamedClass(&named)) {  // "a-\d": three members
            set.Add(named);
            set.Add('-', '-');
          } else {
            high = EscapedCharacter();
          }
        } else {
          high = TakeCharacter();
        }
        if (high < low) Fail("has a range that ends before it begins");
      }
      set.Add(low, high);
    }
    if (intersection) set = intersection->Intersection(set);
    if (options_.no_case) set = set.WithoutCase();
    return negated ? set.Complement() : set;
  }

  bool PosixClass(CodePointSet* set) {
    const size_t end = pattern_.find(":]", at_);
    if (end == std::string_view::npos) return false;
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    if (!FindProperty(name, set)) return false;
    if (negated) *set = set->Complement();
    at_ = end + 2;
    return true;
  }

  std::string_view pattern_;
  const std::string& label_;
  size_t at_ = 0;
  Options options_;
};

}  // namespace

std::unique_ptr<RegexNode> ParseRegex(std::string_view pattern, const std::string& label) {
  return Parser(pattern, label).Parse();
}

}  // namespace owml::text
