// Comparing and dividing numbers digit by digit.
// Called for `minimum`, `multipleOf`, `enum` and their kin.
#include "text/constraint/number_sets.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "text/constraint/pattern.h"

namespace owml::text {
namespace {

Automaton Whole(const char* pattern) { return Pattern::Parse(pattern, "number").Whole(); }

// Which side of the bound a magnitude is on once it is read to the end.
enum Side : uint8_t { kBelow = 1, kSame = 2, kAbove = 4 };

// The magnitudes (without sign) on one of the `sides` of the bound.
Automaton Magnitudes(uint8_t sides, const Decimal& bound) {
  const std::string whole = bound.integer_part(), fraction = bound.fraction();
  AutomatonBuilder builder;
  const uint32_t start = builder.AddState(), end = builder.AddState();
  // Digits of the integral part that were read, and how they compare with as many of the bound's.
  std::map<std::tuple<bool, size_t, Side>, uint32_t> states;
  std::vector<std::tuple<bool, size_t, Side>> open;
  const auto state = [&](bool behind_point, size_t read, Side side) {
    const auto key = std::make_tuple(behind_point, read, side);
    const auto [place, fresh] = states.try_emplace(key, 0);
    if (fresh) {
      place->second = builder.AddState();
      open.push_back(key);
    }
    return place->second;
  };
  const auto compare = [](char digit, char other) { return digit < other ? kBelow : digit > other ? kAbove : kSame; };
  for (char digit = '0'; digit <= '9'; ++digit) {
    const auto code = static_cast<char32_t>(digit);
    builder.AddEdge(start, code, code, state(false, 1, compare(digit, whole[0])));
  }
  const size_t size = whole.size();
  while (!open.empty()) {
    const auto [behind_point, read, side] = open.back();
    open.pop_back();
    const uint32_t from = states[{behind_point, read, side}];
    Side result = side;
    if (!behind_point) {
      // More digits make a larger number. A zero has no further digit: see the intersection below.
      if (read < size) result = kBelow;
      if (read > size) result = kAbove;
      if (result == kSame && !fraction.empty()) result = kBelow;
      for (char digit = '0'; digit <= '9'; ++digit) {
        const auto code = static_cast<char32_t>(digit);
        const size_t next = std::min(read + 1, size + 1);
        const Side moved = side == kSame && read < size ? compare(digit, whole[read]) : side;
        builder.AddEdge(from, code, code, state(false, next, moved));
      }
      Side at_point = side;
      if (read < size) at_point = kBelow;
      if (read > size) at_point = kAbove;
      const uint32_t point = builder.AddState();
      builder.AddEdge(from, '.', '.', point);
      for (char digit = '0'; digit <= '9'; ++digit) {
        const auto code = static_cast<char32_t>(digit);
        const Side moved = at_point == kSame ? compare(digit, fraction.empty() ? '0' : fraction[0]) : at_point;
        builder.AddEdge(point, code, code, state(true, moved == kSame ? 1 : 0, moved));
      }
    } else {
      if (side == kSame && read < fraction.size()) result = kBelow;
      for (char digit = '0'; digit <= '9'; ++digit) {
        const auto code = static_cast<char32_t>(digit);
        const Side moved = side == kSame ? compare(digit, read < fraction.size() ? fraction[read] : '0') : side;
        const size_t next = moved == kSame ? std::min(read + 1, fraction.size() + 1) : 0;
        builder.AddEdge(from, code, code, state(true, next, moved));
      }
    }
    if (sides & result) builder.AddEmpty(from, end);
  }
  static const Automaton kMagnitudes = Whole(R"((0|[1-9]\d*)(\.\d+)?)");
  return builder.Build(start, end).Intersection(kMagnitudes);
}

Automaton WithMinus(const Automaton& magnitudes) {
  AutomatonBuilder builder;
  const uint32_t start = builder.AddState(), minus = builder.AddState(), end = builder.AddState();
  builder.AddEdge(start, '-', '-', minus);
  builder.AddAutomaton(minus, magnitudes, end);
  return builder.Build(start, end);
}

}  // namespace

std::shared_ptr<const Automaton> JsonNumbers() {
  static const auto numbers = std::make_shared<const Automaton>(Whole(R"(-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?)"));
  return numbers;
}

const Automaton& PlainNumbers() {
  static const Automaton numbers = Whole(R"(-?(0|[1-9]\d*)(\.\d+)?)");
  return numbers;
}

const Automaton& Integers() {
  static const Automaton numbers = Whole(R"(-?(0|[1-9]\d*)(\.0+)?)");
  return numbers;
}

Automaton NumbersThat(NumberRelation relation, const Decimal& bound) {
  uint8_t sides = 0;
  switch (relation) {
    case NumberRelation::kLess:
      sides = kBelow;
      break;
    case NumberRelation::kAtMost:
      sides = kBelow | kSame;
      break;
    case NumberRelation::kEqual:
      sides = kSame;
      break;
    case NumberRelation::kAtLeast:
      sides = kSame | kAbove;
      break;
    case NumberRelation::kMore:
      sides = kAbove;
      break;
  }
  // What the other sign is to the bound when the bound is not zero; -0 is 0.
  const uint8_t mirrored =
      static_cast<uint8_t>((sides & kSame) | (sides & kBelow ? kAbove : 0) | (sides & kAbove ? kBelow : 0));
  static const Automaton kAll = Magnitudes(kBelow | kSame | kAbove, Decimal{});
  const auto all_if = [&](bool condition) { return condition ? kAll : Automaton::Nothing(); };
  const Automaton positive = bound.negative ? all_if((sides & kAbove) != 0) : Magnitudes(sides, bound);
  const Automaton negative =
      bound.negative || bound.is_zero() ? Magnitudes(mirrored, bound) : all_if((sides & kBelow) != 0);
  return positive.Union(WithMinus(negative));
}

Automaton MultiplesOf(const Decimal& divisor, const std::string& where) {
  constexpr uint32_t kMostStates = 5000;
  // divisor = unit / 10^places
  const size_t places = divisor.exponent < 0 ? static_cast<size_t>(-divisor.exponent) : 0;
  std::string digits = divisor.digits;
  if (divisor.exponent > 0) digits.append(static_cast<size_t>(divisor.exponent), '0');
  uint64_t unit = 0;
  for (char digit : digits) {
    unit = unit * 10 + static_cast<uint64_t>(digit - '0');
    if (unit > kMostStates) break;
  }
  if (unit * (places + 2) > kMostStates) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                where + ": the keyword \"multipleOf\" is supported for divisors of few digits only");
  }
  AutomatonBuilder builder;
  const uint32_t start = builder.AddState(), end = builder.AddState();
  // Rests of the number times 10^(digits behind the point), and how many those are.
  std::vector<uint32_t> before(unit), behind(unit * (places + 1));
  for (auto& state : before) state = builder.AddState();
  for (auto& state : behind) state = builder.AddState();
  const auto shifted = [&](uint64_t rest, size_t times) {
    for (size_t i = 0; i < times; ++i) rest = rest * 10 % unit;
    return rest;
  };
  const uint32_t sign = builder.AddState();
  builder.AddEmpty(start, sign);
  builder.AddEdge(start, '-', '-', sign);
  for (uint64_t digit = 0; digit < 10; ++digit) {
    const auto code = static_cast<char32_t>('0' + digit);
    builder.AddEdge(sign, code, code, before[digit % unit]);
    for (uint64_t rest = 0; rest < unit; ++rest) {
      builder.AddEdge(before[rest], code, code, before[(rest * 10 + digit) % unit]);
      for (size_t place = 0; place < places; ++place) {
        builder.AddEdge(behind[place * unit + rest], code, code,
                        behind[(place + 1) * unit + (rest * 10 + digit) % unit]);
      }
    }
  }
  for (uint64_t rest = 0; rest < unit; ++rest) {
    builder.AddEdge(before[rest], '.', '.', behind[rest]);
    builder.AddEdge(behind[places * unit + rest], '0', '0', behind[places * unit + rest]);
    if (shifted(rest, places) == 0) builder.AddEmpty(before[rest], end);
    for (size_t place = 0; place <= places; ++place) {
      if (shifted(rest, places - place) == 0) builder.AddEmpty(behind[place * unit + rest], end);
    }
  }
  return builder.Build(start, end).Intersection(PlainNumbers());
}

}  // namespace owml::text
