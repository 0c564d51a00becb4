// Reading sets of characters as ECMAScript writes them in Unicode mode.
// Called by the parser of patterns.
#include "text/constraint/pattern_classes.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

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

int HexValue(char32_t code) {
  if (IsDigit(code)) return static_cast<int>(code - '0');
  if (code >= 'a' && code <= 'f') return static_cast<int>(code - 'a' + 10);
  if (code >= 'A' && code <= 'F') return static_cast<int>(code - 'A' + 10);
  return -1;
}

}  // namespace

const CodePointSet& WordCharacters() {
  static const CodePointSet set = SetOf({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  return set;
}

const CodePointSet& LineEnds() {
  static const CodePointSet set = SetOf({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
  return set;
}

CodePointSet PatternClassReader::Class() {
  const bool negated = text_.Take('^');
  std::vector<CodePointSet::Range> ranges;
  while (!text_.Take(']')) {
    if (ranges.size() > kMostRanges) text_.Fail("has a class that is too large");
    if (text_.AtEnd()) text_.Fail("has '[' without ']'");
    bool whole = false;
    const CodePointSet first = Atom(&whole);
    if (text_.Peek() == '-' && text_.Peek(1) != ']' && text_.Peek(1) != PatternText::kEnd) {
      text_.Next();
      bool other_whole = false;
      const CodePointSet last = Atom(&other_whole);
      if (whole || other_whole) text_.Fail("has a range that begins or ends with a class");
      const char32_t low = first.ranges()[0].first, high = last.ranges()[0].first;
      if (high < low) text_.Fail("has a range that ends before it begins");
      ranges.push_back({low, high});
    } else {
      ranges.insert(ranges.end(), first.ranges().begin(), first.ranges().end());
    }
  }
  const CodePointSet set = CodePointSet::OfRanges(std::move(ranges));
  return negated ? set.Complement() : set;
}

CodePointSet PatternClassReader::Atom(bool* whole) {
  const char32_t code = text_.Next();
  if (code != '\\') return CodePointSet::Of(code, code);
  const char32_t kind = text_.Peek();
  *whole = kind == 'd' || kind == 'D' || kind == 'w' || kind == 'W' || kind == 's' || kind == 'S' || kind == 'p' ||
           kind == 'P';
  return Escape(true);
}

CodePointSet PatternClassReader::Escape(bool in_class) {
  const char32_t kind = text_.Next();
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
      if (IsDigit(text_.Peek())) text_.Fail("has an octal escape");
      return one(0);
    case 'c': {
      const char32_t letter = text_.Next() | 0x20;
      if (letter < 'a' || letter > 'z') text_.Fail("has '\\c' without a letter");
      return one(letter - 'a' + 1);
    }
    case 'x':
      return one(Hex(2));
    case 'u':
      return one(UnicodeEscape());
    case 'b':
      if (in_class) return one('\b');
      text_.Fail("uses a word boundary, which is not supported");
    case 'B':
      text_.Fail("uses a word boundary, which is not supported");
    case 'k':
      text_.Fail("uses a back reference, which is not supported");
    default:
      break;
  }
  if (kind >= '1' && kind <= '9') text_.Fail("uses a back reference, which is not supported");
  if (WordCharacters().Contains(kind)) text_.Fail(std::string("has the unknown escape '\\") + ToUtf8(kind) + "'");
  return one(kind);
}

char32_t PatternClassReader::Hex(int digits) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = HexValue(text_.Peek());
    if (digit < 0) text_.Fail("has an escape with too few hexadecimal digits");
    text_.Next();
    value = value * 16 + static_cast<char32_t>(digit);
  }
  return value;
}

char32_t PatternClassReader::UnicodeEscape() {
  if (text_.Take('{')) {
    char32_t value = 0;
    size_t digits = 0;
    while (!text_.Take('}')) {
      value = value * 16 + Hex(1);
      if (++digits > 8 || value > kLastCodePoint) text_.Fail("has a character beyond U+10FFFF");
    }
    if (digits == 0) text_.Fail("has an empty '\\u{}'");
    return value;
  }
  const char32_t high = Hex(4);
  if (high < 0xD800 || high > 0xDBFF || text_.Peek() != '\\' || text_.Peek(1) != 'u') return high;
  const size_t before = text_.position();
  text_.GoTo(before + 2);
  const char32_t low = Hex(4);
  if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  text_.GoTo(before);
  return high;
}

CodePointSet PatternClassReader::Property(bool negated) {
  if (!text_.Take('{')) text_.Fail("has '\\p' without '{'");
  std::string name;
  while (!text_.Take('}')) name += ToUtf8(text_.Next());
  for (const char* prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
    if (name.starts_with(prefix)) {
      name.erase(0, std::string_view(prefix).size());
      break;
    }
  }
  const auto [place, fresh] = properties_.try_emplace(std::move(name));
  if (fresh && !FindProperty(place->first, &place->second)) {
    text_.Fail("names the unknown property \"" + place->first + "\"");
  }
  return negated ? place->second.Complement() : place->second;
}

}  // namespace owml::text
