// The matcher: backtracking over a compiled expression, with its own stack and a budget of steps.
// Called by the pre-tokenizers, the normalizers and the decoders.
#include "text/unicode/regex.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/unicode/regex_program.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

using Op = RegexInstruction::Op;

// Enough for every expression that is linear in the text, many times over.
constexpr uint64_t kStepsPerByte = 2000;
constexpr uint64_t kStepsAtLeast = 10'000'000;

}  // namespace

struct RegexMatcher::State {
  explicit State(const Regex& regex) : source(regex), program(*regex.program_), categories(Categories()) {
    registers.resize(program.registers);
  }

  struct Frame {
    enum class Kind : uint8_t { kGo, kGiveBack, kTakeMore, kRestore };
    Kind kind;
    uint32_t at;      // instruction, or register
    uint32_t left;    // characters that a lazy loop may still take
    size_t position;  // in the text, or the register's value
    size_t least;     // the position that a greedy loop must keep
  };

  void Spend(uint64_t steps) {
    if (budget < steps) {
      throw Error(E_INVALIDARG, "the regular expression " + Quoted(source.pattern()) +
                                    " takes too many steps on a text of " + std::to_string(text.size()) + " bytes");
    }
    budget -= steps;
  }

  bool NextIn(uint32_t number, size_t position) const {
    if (position >= text.size()) return false;
    const auto byte = static_cast<uint8_t>(text[position]);
    const CharacterClass& set = program.classes[number];
    if (byte < 0x80) return set.HasAscii(byte);
    return set.Has(DecodeCharacter(text, position).code, categories);
  }

  // Takes up to `most` characters of a class.
  size_t TakeAll(uint32_t number, size_t position, uint32_t most, uint32_t* taken) {
    const CharacterClass& set = program.classes[number];
    const size_t size = text.size();
    uint32_t count = 0;
    while (position < size && count < most) {
      const auto byte = static_cast<uint8_t>(text[position]);
      if (byte < 0x80) {
        if (!set.HasAscii(byte)) break;
        ++position;
      } else {
        const Character character = DecodeCharacter(text, position);
        if (!set.Has(character.code, categories)) break;
        position += character.length;
      }
      ++count;
    }
    Spend(count + 1);
    *taken = count;
    return position;
  }

  bool Holds(RegexNode::Assertion assertion, size_t position) const {
    using Assertion = RegexNode::Assertion;
    switch (assertion) {
      case Assertion::kLineStart:
        return position == 0 || (text[position - 1] == '\n' && position < text.size());
      case Assertion::kLineEnd:
        return position == text.size() || text[position] == '\n';
      case Assertion::kTextStart:
        return position == 0;
      case Assertion::kTextEnd:
        return position == text.size();
      case Assertion::kLastLineEnd:
        return position == text.size() || (position + 1 == text.size() && text[position] == '\n');
      case Assertion::kWordBorder:
      case Assertion::kNoWordBorder: {
        const bool before = position > 0 && IsWord(DecodeCharacter(text, PreviousCharacter(text, position)).code);
        const bool after = position < text.size() && IsWord(DecodeCharacter(text, position).code);
        return (before != after) == (assertion == Assertion::kWordBorder);
      }
    }
    return false;
  }

  // Runs from instruction `at` to the end that belongs to it. Calls itself for the inside of groups, as deep as the
  // pattern is nested.
  bool Run(uint32_t at, size_t position, size_t* end) {
    const size_t base = stack.size();
    bool matched = false;
    for (;;) {
      Spend(1);
      if (!Step(&at, &position, &matched)) {
        if (!Back(base, &at, &position)) return false;
        continue;
      }
      if (matched) {
        stack.resize(base);
        *end = position;
        return true;
      }
    }
  }

  bool Step(uint32_t* at, size_t* position, bool* matched) {
    const RegexInstruction& instruction = program.code[*at];
    switch (instruction.op) {
      case Op::kSet:
        if (!NextIn(instruction.a, *position)) return false;
        *position += DecodeCharacter(text, *position).length;
        ++*at;
        return true;
      case Op::kLoop:
        return Loop(instruction, at, position);
      case Op::kFork: {
        const bool first = instruction.first[0] == kNoClass || NextIn(instruction.first[0], *position);
        const bool second = instruction.first[1] == kNoClass || NextIn(instruction.first[1], *position);
        if (first && second) stack.push_back({Frame::Kind::kGo, instruction.b, 0, *position, 0});
        if (!first && !second) return false;
        *at = first ? instruction.a : instruction.b;
        return true;
      }
      case Op::kJump:
        *at = instruction.a;
        return true;
      case Op::kMark:
        stack.push_back({Frame::Kind::kRestore, instruction.a, 0, registers[instruction.a], 0});
        registers[instruction.a] = *position;
        ++*at;
        return true;
      case Op::kProgress:
        if (registers[instruction.a] == *position) return false;
        ++*at;
        return true;
      case Op::kAtomic: {
        size_t end = 0;
        if (!Run(*at + 1, *position, &end)) return false;
        *position = end;
        *at = instruction.a;
        return true;
      }
      case Op::kLookahead: {
        size_t end = 0;
        if (Run(*at + 1, *position, &end) == instruction.negated) return false;
        *at = instruction.a;
        return true;
      }
      case Op::kLookbehind: {
        size_t start = *position;
        uint32_t back = 0;
        for (; back < instruction.minimum && start > 0; ++back) start = PreviousCharacter(text, start);
        Spend(back);
        size_t end = 0;
        const bool found = back == instruction.minimum && Run(*at + 1, start, &end) && end == *position;
        if (found == instruction.negated) return false;
        *at = instruction.a;
        return true;
      }
      case Op::kAssertion:
        if (!Holds(instruction.assertion, *position)) return false;
        ++*at;
        return true;
      case Op::kEnd:
        *matched = true;
        return true;
    }
    return false;
  }

  bool Loop(const RegexInstruction& instruction, uint32_t* at, size_t* position) {
    uint32_t taken = 0;
    size_t least = *position;
    if (instruction.minimum > 0) {
      least = TakeAll(instruction.a, *position, instruction.minimum, &taken);
      if (taken < instruction.minimum) return false;
    }
    ++*at;
    const uint32_t more =
        instruction.maximum == kRegexUnbounded ? kRegexUnbounded : instruction.maximum - instruction.minimum;
    if (instruction.greed == RegexNode::Greed::kLazy) {
      if (more > 0) stack.push_back({Frame::Kind::kTakeMore, *at - 1, more, least, 0});
      *position = least;
      return true;
    }
    *position = TakeAll(instruction.a, least, more, &taken);
    if (*position > least && instruction.greed == RegexNode::Greed::kGreedy) {
      stack.push_back({Frame::Kind::kGiveBack, *at, 0, *position, least});
    }
    return true;
  }

  // The next way that was left open; false when there is none above `base`.
  bool Back(size_t base, uint32_t* at, size_t* position) {
    while (stack.size() > base) {
      Frame& frame = stack.back();
      switch (frame.kind) {
        case Frame::Kind::kGo:
          *at = frame.at;
          *position = frame.position;
          stack.pop_back();
          return true;
        case Frame::Kind::kGiveBack:
          frame.position = PreviousCharacter(text, frame.position);
          *at = frame.at;
          *position = frame.position;
          if (frame.position <= frame.least) stack.pop_back();
          return true;
        case Frame::Kind::kTakeMore: {
          const RegexInstruction& instruction = program.code[frame.at];
          uint32_t taken = 0;
          const size_t after = TakeAll(instruction.a, frame.position, 1, &taken);
          if (taken == 0) {
            stack.pop_back();
            break;
          }
          *at = frame.at + 1;
          *position = frame.position = after;
          if (frame.left != kRegexUnbounded && --frame.left == 0) stack.pop_back();
          return true;
        }
        case Frame::Kind::kRestore:
          registers[frame.at] = frame.position;
          stack.pop_back();
          break;
      }
    }
    return false;
  }

  std::optional<RegexMatch> Search() {
    if (program.literal) {
      const size_t found = text.find(program.text, next);
      if (found == std::string_view::npos) return std::nullopt;
      return RegexMatch{found, found + program.text.size()};
    }
    for (size_t start = next; start <= text.size();) {
      if (program.first == kNoClass || NextIn(program.first, start)) {
        size_t end = 0;
        if (Run(0, start, &end)) return RegexMatch{start, end};
      }
      start += start < text.size() ? DecodeCharacter(text, start).length : 1;
    }
    return std::nullopt;
  }

  const Regex& source;
  const RegexProgram& program;
  const CharacterTable& categories;
  std::string_view text;
  size_t next = 0;
  std::optional<size_t> last_end;
  uint64_t budget = 0;
  std::vector<Frame> stack;
  std::vector<size_t> registers;
};

Regex Regex::Compile(std::string_view pattern, const std::string& label) {
  Regex regex;
  regex.pattern_ = pattern;
  regex.program_ = CompileRegex(pattern, label);
  return regex;
}

Regex Regex::Literal(std::string_view text) {
  auto program = std::make_shared<RegexProgram>();
  program->literal = true;
  program->text = text;
  Regex regex;
  regex.pattern_ = text;
  regex.program_ = std::move(program);
  return regex;
}

RegexMatcher::RegexMatcher(const Regex& regex) : state_(std::make_unique<State>(regex)) {}
RegexMatcher::~RegexMatcher() = default;

void RegexMatcher::Start(std::string_view text) {
  state_->text = text;
  state_->next = 0;
  state_->last_end.reset();
  state_->stack.clear();
  state_->budget = kStepsAtLeast + kStepsPerByte * text.size();
}

std::optional<RegexMatch> RegexMatcher::Next() {
  State& state = *state_;
  while (state.next <= state.text.size()) {
    const std::optional<RegexMatch> match = state.Search();
    if (!match) {
      state.next = state.text.size() + 1;
      return std::nullopt;
    }
    if (match->begin == match->end && state.last_end == match->end) {
      state.next += state.next < state.text.size() ? DecodeCharacter(state.text, state.next).length : 1;
      continue;
    }
    state.next = match->end;
    state.last_end = match->end;
    return match;
  }
  return std::nullopt;
}

}  // namespace owml::text
