// Escaping: from automata over the characters of a value to automata over its JSON text.
// Called by the schema compiler.
#include "text/constraint/json_strings.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "text/constraint/pattern.h"

namespace owml::text {
namespace {

class Writer {
 public:
  explicit Writer(bool escape_everything) : escape_everything_(escape_everything) {}

  AutomatonBuilder& builder() { return builder_; }

  // One character from `first` to `last` on the way from `from` to `to`.
  void Add(uint32_t from, char32_t first, char32_t last, uint32_t to) {
    const auto part = [&](char32_t low, char32_t high, auto&& add) {
      low = std::max(low, first);
      high = std::min(high, last);
      if (low <= high) add(low, high);
    };
    const auto raw = [&](char32_t low, char32_t high) { builder_.AddEdge(from, low, high, to); };
    part(0x20, '"' - 1, raw);
    part('"' + 1, '\\' - 1, raw);
    part('\\' + 1, 0xD7FF, raw);
    part(0xE000, kLastCodePoint, raw);
    static constexpr std::pair<char32_t, char> kShort[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'\b', 'b'},
                                                           {'\f', 'f'}, {'\n', 'n'},  {'\r', 'r'}, {'\t', 't'}};
    for (const auto& [code, letter] : kShort) {
      if (code < first || code > last) continue;
      builder_.AddEdge(Backslash(from), static_cast<char32_t>(letter), static_cast<char32_t>(letter), to);
    }
    const auto escaped = [&](char32_t low, char32_t high) { Hex(UnicodeStart(from), low, high, 4, to); };
    part(0, 0x1F, escaped);
    if (escape_everything_) part(0x20, 0x7E, escaped);
    part(0x7F, 0xD7FF, escaped);
    part(0xE000, 0xFFFF, escaped);
    part(0x10000, kLastCodePoint, [&](char32_t low, char32_t high) { Pairs(UnicodeStart(from), low, high, to); });
  }

 private:
  // The state behind the backslash of an escape that begins at `from`.
  uint32_t Backslash(uint32_t from) {
    return Memo({from, 0, 0, 0}, [&](uint32_t state) { builder_.AddEdge(from, '\\', '\\', state); });
  }
  uint32_t UnicodeStart(uint32_t from) {
    const uint32_t backslash = Backslash(from);
    return Memo({from, 1, 0, 0}, [&](uint32_t state) { builder_.AddEdge(backslash, 'u', 'u', state); });
  }

  template <class Make>
  uint32_t Memo(std::array<uint32_t, 4> key, Make&& make) {
    const auto found = memo_.find(key);
    if (found != memo_.end()) return found->second;
    const uint32_t state = builder_.AddState();
    memo_[key] = state;
    make(state);
    return state;
  }

  void Digits(uint32_t from, uint32_t low, uint32_t high, uint32_t to) {
    if (low < 10) builder_.AddEdge(from, '0' + low, '0' + std::min(high, 9u), to);
    if (high >= 10) {
      const uint32_t first = std::max(low, 10u) - 10;
      builder_.AddEdge(from, 'a' + first, 'a' + high - 10, to);
      builder_.AddEdge(from, 'A' + first, 'A' + high - 10, to);
    }
  }

  // `count` hexadecimal digits with a value from `low` to `high`.
  void Hex(uint32_t from, uint32_t low, uint32_t high, uint32_t count, uint32_t to) {
    if (count == 1) return Digits(from, low, high, to);
    const uint32_t unit = 1u << (4 * (count - 1));
    const uint32_t first = low / unit, last = high / unit;
    const auto through = [&](uint32_t digit_low, uint32_t digit_high, uint32_t rest_low, uint32_t rest_high) {
      const uint32_t rest = Memo({to, 2 + count, rest_low, rest_high},
                                 [&](uint32_t state) { Hex(state, rest_low, rest_high, count - 1, to); });
      Digits(from, digit_low, digit_high, rest);
    };
    if (first == last) return through(first, first, low % unit, high % unit);
    uint32_t whole_first = first, whole_last = last;
    if (low % unit != 0) {
      through(first, first, low % unit, unit - 1);
      ++whole_first;
    }
    if (high % unit != unit - 1) {
      through(last, last, 0, high % unit);
      --whole_last;
    }
    if (whole_first <= whole_last) through(whole_first, whole_last, 0, unit - 1);
  }

  // Two escapes for a character beyond the first plane.
  void Pairs(uint32_t from, char32_t low, char32_t high, uint32_t to) {
    low -= 0x10000;
    high -= 0x10000;
    const auto through = [&](uint32_t high_first, uint32_t high_last, uint32_t low_first, uint32_t low_last) {
      const uint32_t second = Memo({to, 8, low_first, low_last},
                                   [&](uint32_t state) { Hex(state, 0xDC00 + low_first, 0xDC00 + low_last, 4, to); });
      const uint32_t backslash = Memo({to, 9, low_first, low_last}, [&](uint32_t state) {
        const uint32_t letter = builder_.AddState();
        builder_.AddEdge(state, '\\', '\\', letter);
        builder_.AddEdge(letter, 'u', 'u', second);
      });
      Hex(from, 0xD800 + high_first, 0xD800 + high_last, 4, backslash);
    };
    const uint32_t first = low >> 10, last = high >> 10;
    if (first == last) return through(first, first, low & 0x3FF, high & 0x3FF);
    uint32_t whole_first = first, whole_last = last;
    if ((low & 0x3FF) != 0) {
      through(first, first, low & 0x3FF, 0x3FF);
      ++whole_first;
    }
    if ((high & 0x3FF) != 0x3FF) {
      through(last, last, 0, high & 0x3FF);
      --whole_last;
    }
    if (whole_first <= whole_last) through(whole_first, whole_last, 0, 0x3FF);
  }

  const bool escape_everything_;
  AutomatonBuilder builder_;
  std::map<std::array<uint32_t, 4>, uint32_t> memo_;
};

Automaton Write(const Automaton& values, bool quotes, bool escape_everything) {
  if (values.empty()) return Automaton::Nothing();
  Writer writer(escape_everything);
  AutomatonBuilder& builder = writer.builder();
  const uint32_t start = builder.AddState(), end = builder.AddState();
  std::vector<uint32_t> places;
  for (size_t i = 0; i < values.states().size(); ++i) places.push_back(builder.AddState());
  for (size_t i = 0; i < places.size(); ++i) {
    for (const auto& edge : values.states()[i].edges) writer.Add(places[i], edge.first, edge.last, places[edge.to]);
    if (!values.states()[i].accepts) continue;
    if (quotes) {
      builder.AddEdge(places[i], '"', '"', end);
    } else {
      builder.AddEmpty(places[i], end);
    }
  }
  if (quotes) {
    builder.AddEdge(start, '"', '"', places[0]);
  } else {
    builder.AddEmpty(start, places[0]);
  }
  return builder.Build(start, end);
}

}  // namespace

std::shared_ptr<const Automaton> AnyJsonString() {
  static const auto any = std::make_shared<const Automaton>(Write(Automaton::Everything(), true, true));
  return any;
}

std::shared_ptr<const Automaton> AnyJsonCharacter() {
  static const auto any = std::make_shared<const Automaton>(Write(Automaton::Lengths(1, 1), false, true));
  return any;
}

Automaton WrittenAsJson(const Automaton& values) { return Write(values, true, false); }

bool IsPlainAscii(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '/'; });
}

std::string QuotedPlainAscii(std::string_view value) { return "\"" + std::string(value) + "\""; }

}  // namespace owml::text
