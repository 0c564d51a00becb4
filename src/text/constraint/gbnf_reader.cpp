// The parser of GBNF: rules `name ::= body`, literals, sets, groups, `|`, `*`, `+`, `?`, `{m,n}`, `.` and remarks.
// Called by the compiler of constraints.
#include "text/constraint/gbnf_reader.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "text/constraint/json_schema.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr size_t kLongestText = 4u << 20;
constexpr int kMostNested = 200;
constexpr uint32_t kMostRepeats = 100000;
constexpr int kMostMarks = 8;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Grammar Read() {
    if (text_.size() > kLongestText) {
      throw Error(E_INVALIDARG,
                  "grammar: " + std::to_string(text_.size()) + " bytes are more than " + std::to_string(kLongestText));
    }
    if (ValidPrefix(text_) < text_.size()) throw Error(E_INVALIDARG, "grammar: the text is no valid UTF-8");
    RuleOf("root");
    Space(true);
    while (!AtEnd()) ReadRule();
    const auto& rules = grammar_.rules();
    if (rules[0].body == Grammar::kUndefined) throw Error(E_INVALIDARG, "grammar: the rule 'root' is not defined");
    for (const auto& [name, used] : names_) {
      if (rules[used.rule].body != Grammar::kUndefined) continue;
      at_ = used.first;
      Fail("the rule '" + name + "' is not defined");
    }
    return std::move(grammar_);
  }

 private:
  using Node = Grammar::Node;
  struct Used {
    Grammar::Rule rule = 0;
    size_t first = 0;  // where in the text
  };

  [[noreturn]] void Fail(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    throw Error(E_INVALIDARG, "grammar, line " + std::to_string(line) + ": " + what);
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool Take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  void Space(bool lines) {
    while (!AtEnd()) {
      const char c = Peek();
      if (c == '#') {
        while (!AtEnd() && Peek() != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  static bool IsNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }
  std::string_view Name() {
    const size_t begin = at_;
    while (IsNameCharacter(Peek())) ++at_;
    if (at_ == begin) Fail("a rule name is expected" + Found());
    return text_.substr(begin, at_ - begin);
  }
  std::string Found() const {
    if (AtEnd()) return ", not the end";
    return std::string(", not '") + ToUtf8(DecodeCharacter(text_, at_).code) + "'";
  }

  Grammar::Rule RuleOf(std::string_view name) {
    const auto [place, fresh] = names_.try_emplace(std::string(name), Used{});
    if (fresh) place->second = {grammar_.AddRule(std::string(name)), at_};
    return place->second.rule;
  }

  void ReadRule() {
    const Grammar::Rule rule = RuleOf(Name());
    Space(false);
    if (!Take("::=")) Fail("'::=' is expected behind the name of a rule" + Found());
    Space(true);
    if (grammar_.rules()[rule].body != Grammar::kUndefined) {
      Fail("the rule '" + grammar_.rules()[rule].name + "' is defined twice");
    }
    grammar_.Define(rule, Alternatives(0));
    if (!AtEnd() && Peek() != '\n' && Peek() != '\r') Fail("a rule ends with its line" + Found());
    Space(true);
  }

  // Inside a group lines do not matter; outside, a rule goes on over a line end only behind `|`.
  Node Alternatives(int depth) {
    if (depth > kMostNested) Fail("groups are nested more than " + std::to_string(kMostNested) + " deep");
    std::vector<Node> choices{Sequence(depth)};
    while (true) {
      // A line that begins with `|` continues the rule.
      const size_t before = at_;
      Space(true);
      if (!Take("|")) {
        if (depth == 0) at_ = before;
        break;
      }
      Space(true);
      choices.push_back(Sequence(depth));
    }
    return grammar_.Choice(std::move(choices));
  }

  Node Sequence(int depth) {
    std::vector<Node> parts;
    while (true) {
      Space(depth > 0);
      const char c = Peek();
      if (AtEnd() || c == '|' || c == ')' || c == '\n' || c == '\r') break;
      parts.push_back(Repeats(Part(depth)));
    }
    return grammar_.Sequence(std::move(parts));
  }

  Node Part(int depth) {
    const char c = Peek();
    if (c == '"') return Literal();
    if (c == '[') return Class();
    if (c == '.') {
      ++at_;
      return grammar_.Set(CodePointSet::All());
    }
    if (c == '(') {
      ++at_;
      Space(true);
      const Node inner = Alternatives(depth + 1);
      Space(true);
      if (!Take(")")) Fail("')' is expected" + Found());
      return inner;
    }
    if (c == '%') return Schema();
    if (c == '<' || (c == '!' && Peek(1) == '<')) {
      Fail("tokens written as <...> are not supported; write their text");
    }
    if (IsNameCharacter(c)) {
      return grammar_.Call(RuleOf(Name()));
    }
    Fail("a literal, a set, a group or a rule is expected" + Found());
  }

  Node Repeats(Node what) {
    for (int marks = 0;; ++marks) {
      if (marks > kMostMarks) Fail("more than " + std::to_string(kMostMarks) + " repetition marks in a row");
      if (Take("*")) {
        what = grammar_.Repeat(what, 0, Grammar::kUnbounded);
      } else if (Take("+")) {
        what = grammar_.Repeat(what, 1, Grammar::kUnbounded);
      } else if (Take("?")) {
        what = grammar_.Optional(what);
      } else if (Take("{")) {
        Space(true);
        const uint32_t minimum = Number();
        uint32_t maximum = minimum;
        Space(true);
        if (Take(",")) {
          Space(true);
          maximum = Peek() == '}' ? Grammar::kUnbounded : Number();
          Space(true);
        }
        if (!Take("}")) Fail("'}' is expected" + Found());
        if (maximum < minimum) Fail("a repetition ends before it begins");
        what = grammar_.Repeat(what, minimum, maximum);
      } else {
        return what;
      }
    }
  }

  uint32_t Number() {
    if (Peek() < '0' || Peek() > '9') Fail("a number is expected" + Found());
    uint64_t value = 0;
    while (Peek() >= '0' && Peek() <= '9') {
      value = value * 10 + static_cast<uint64_t>(text_[at_++] - '0');
      if (value > kMostRepeats) Fail("a repetition of more than " + std::to_string(kMostRepeats));
    }
    return static_cast<uint32_t>(value);
  }

  char32_t Character() {
    if (AtEnd() || Peek() == '\n') Fail("a literal or a set ends with its line");
    const owml::text::Character character = DecodeCharacter(text_, at_);
    at_ += character.length;
    if (character.code != '\\') return character.code;
    const char kind = Peek();
    ++at_;
    switch (kind) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'x':
        return Hex(2);
      case 'u':
        return Hex(4);
      case 'U':
        return Hex(8);
      case '"':
      case '\\':
      case '[':
      case ']':
      case '-':
      case '^':
      case '/':
      case '\'':
        return static_cast<char32_t>(kind);
      default:
        --at_;
        Fail("an unknown escape" + Found());
    }
  }

  char32_t Hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = Peek();
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit < 0) Fail("an escape has too few hexadecimal digits");
      ++at_;
      value = value * 16 + static_cast<char32_t>(digit);
      if (value > kLastCodePoint) Fail("a character beyond U+10FFFF");
    }
    if (value >= 0xD800 && value <= 0xDFFF) Fail("an escape names half a character (a surrogate)");
    return value;
  }

  Node Literal() { return grammar_.Literal(Quoted()); }

  std::string Quoted() {
    ++at_;
    std::string text;
    while (!Take("\"")) AppendCharacter(&text, Character());
    return text;
  }

  // %json_schema "...": one value that the schema allows.
  Node Schema() {
    if (!Take("%json_schema")) Fail("an unknown directive; there is %json_schema");
    Space(false);
    if (Peek() != '"') Fail("%json_schema is followed by the schema in quotes" + Found());
    return AddJsonSchema(&grammar_, Quoted(), "schema-" + std::to_string(++schemas_) + "-");
  }

  Node Class() {
    ++at_;
    const bool negated = Take("^");
    std::vector<CodePointSet::Range> ranges;
    while (!Take("]")) {
      const char32_t first = Character();
      char32_t last = first;
      if (Peek() == '-' && Peek(1) != ']') {
        ++at_;
        last = Character();
        if (last < first) Fail("a range ends before it begins");
      }
      ranges.push_back({first, last});
    }
    const CodePointSet set = CodePointSet::OfRanges(std::move(ranges));
    return grammar_.Set(negated ? set.Complement() : set);
  }

  std::string_view text_;
  size_t at_ = 0;
  Grammar grammar_;
  std::map<std::string, Used> names_;
  size_t schemas_ = 0;
};

}  // namespace

Grammar ReadGbnf(std::string_view text) { return Reader(text).Read(); }

}  // namespace owml::text
