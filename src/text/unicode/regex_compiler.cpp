// From the parsed expression to instructions.
// Called by Regex::Compile.
#include <algorithm>
#include <optional>
#include <utility>

#include "formats/bad_data.h"
#include "text/unicode/regex.h"
#include "text/unicode/regex_program.h"

namespace owml::text {

CharacterClass::CharacterClass(const CodePointSet& set) {
  for (char32_t code = 0; code < 0x80; ++code) {
    if (set.Contains(code)) ascii_[code >> 6] |= uint64_t{1} << (code & 63);
  }
  const CodePointSet above = CodePointSet::Of(0x80, kLastCodePoint);
  ranges_ = set.Intersection(above);
  uint32_t inside = 0;
  for (const CodePointSet::Range& range : ranges_.ranges()) inside |= CategoriesBetween(range.first, range.last);
  if (CodePointSet::OfCategories(inside).Intersection(above) == ranges_) {
    by_category_ = true;
    mask_ = inside;
    ranges_ = CodePointSet();
  }
}

bool CharacterClass::InRanges(char32_t code) const { return ranges_.Contains(code); }

namespace {

using Node = RegexNode;
using Op = RegexInstruction::Op;

// Expanded repeats of repeats grow fast.
constexpr size_t kMostInstructions = 50000;

// What a node can begin with; `empty` when it may match nothing, so that what follows counts too.
struct First {
  CodePointSet set;
  bool empty = false;
};

class Compiler {
 public:
  Compiler(std::string_view pattern, const std::string& label) : pattern_(pattern), label_(label) {}

  std::shared_ptr<const RegexProgram> Compile() {
    const std::unique_ptr<Node> root = ParseRegex(pattern_, label_);
    Emit(*root);
    Add(Op::kEnd);
    const First first = FirstOf(*root);
    if (!first.empty) program_->first = ClassOf(first.set);
    return program_;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    ThrowBadData(label_, "the regular expression " + Quoted(pattern_) + " " + what);
  }

  uint32_t Add(Op op) {
    if (program_->code.size() >= kMostInstructions) Fail("is too large");
    RegexInstruction instruction;
    instruction.op = op;
    program_->code.push_back(instruction);
    return static_cast<uint32_t>(program_->code.size() - 1);
  }
  RegexInstruction& At(uint32_t index) { return program_->code[index]; }
  uint32_t Here() const { return static_cast<uint32_t>(program_->code.size()); }

  uint32_t ClassOf(const CodePointSet& set) {
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (sets_[i] == set) return static_cast<uint32_t>(i);
    }
    sets_.push_back(set);
    program_->classes.emplace_back(set);
    return static_cast<uint32_t>(sets_.size() - 1);
  }

  uint32_t FirstClass(const Node& node) {
    const First first = FirstOf(node);
    return first.empty ? kNoClass : ClassOf(first.set);
  }

  static First FirstOf(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kSet:
        return {node.set, false};
      case Node::Kind::kConcat: {
        First all{{}, true};
        for (const auto& child : node.children) {
          First first = FirstOf(*child);
          all.set.Add(first.set);
          if (!first.empty) {
            all.empty = false;
            return all;
          }
        }
        return all;
      }
      case Node::Kind::kAlternate: {
        First all;
        for (const auto& child : node.children) {
          First first = FirstOf(*child);
          all.set.Add(first.set);
          all.empty |= first.empty;
        }
        return all;
      }
      case Node::Kind::kRepeat: {
        First first = FirstOf(*node.children[0]);
        first.empty |= node.minimum == 0;
        return first;
      }
      case Node::Kind::kAtomic:
        return FirstOf(*node.children[0]);
      default:
        return {{}, true};
    }
  }

  void Emit(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kEmpty:
        break;
      case Node::Kind::kSet:
        At(Add(Op::kSet)).a = ClassOf(node.set);
        break;
      case Node::Kind::kConcat:
        for (const auto& child : node.children) Emit(*child);
        break;
      case Node::Kind::kAlternate:
        EmitAlternatives(node);
        break;
      case Node::Kind::kRepeat:
        EmitRepeat(node);
        break;
      case Node::Kind::kAtomic:
        EmitInside(Op::kAtomic, node);
        break;
      case Node::Kind::kLookahead:
        EmitInside(Op::kLookahead, node);
        break;
      case Node::Kind::kLookbehind:
        EmitLookbehind(node);
        break;
      case Node::Kind::kAssertion:
        At(Add(Op::kAssertion)).assertion = node.assertion;
        break;
    }
  }

  void EmitAlternatives(const Node& node) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      uint32_t fork = 0;
      if (!last) {
        const uint32_t taken = FirstClass(*node.children[i]);
        const uint32_t rest = i + 2 == node.children.size() ? FirstClass(*node.children[i + 1]) : kNoClass;
        fork = Add(Op::kFork);
        At(fork).first = {taken, rest};
        At(fork).a = fork + 1;
      }
      Emit(*node.children[i]);
      if (!last) {
        jumps.push_back(Add(Op::kJump));
        At(fork).b = Here();
      }
    }
    for (const uint32_t jump : jumps) At(jump).a = Here();
  }

  void EmitRepeat(const Node& node) {
    const Node& child = *node.children[0];
    if (node.maximum == 0) return;
    if (child.kind == Node::Kind::kSet) {
      const uint32_t set = ClassOf(child.set);
      RegexInstruction& loop = At(Add(Op::kLoop));
      loop.a = set;
      loop.minimum = node.minimum;
      loop.maximum = node.maximum;
      loop.greed = node.greed;
      return;
    }
    if (node.greed == Node::Greed::kPossessive) {
      const uint32_t atomic = Add(Op::kAtomic);
      EmitCopies(child, node.minimum, node.maximum, Node::Greed::kGreedy);
      Add(Op::kEnd);
      At(atomic).a = Here();
      return;
    }
    EmitCopies(child, node.minimum, node.maximum, node.greed);
  }

  void EmitCopies(const Node& child, uint32_t minimum, uint32_t maximum, Node::Greed greed) {
    for (uint32_t i = 0; i < minimum; ++i) Emit(child);
    if (maximum == kRegexUnbounded) {
      const uint32_t fork = EmitFork(child, greed);
      const bool may_be_empty = FirstOf(child).empty;
      const uint32_t mark = program_->registers;
      if (may_be_empty) {
        ++program_->registers;
        At(Add(Op::kMark)).a = mark;
      }
      Emit(child);
      if (may_be_empty) At(Add(Op::kProgress)).a = mark;
      At(Add(Op::kJump)).a = fork;
      Leave(fork, greed);
      return;
    }
    std::vector<uint32_t> forks;
    for (uint32_t i = minimum; i < maximum; ++i) {
      forks.push_back(EmitFork(child, greed));
      Emit(child);
    }
    for (const uint32_t fork : forks) Leave(fork, greed);
  }

  uint32_t EmitFork(const Node& child, Node::Greed greed) {
    const uint32_t first = FirstClass(child);
    const uint32_t fork = Add(Op::kFork);
    if (greed == Node::Greed::kLazy) {
      At(fork).b = fork + 1;
      At(fork).first = {kNoClass, first};
    } else {
      At(fork).a = fork + 1;
      At(fork).first = {first, kNoClass};
    }
    return fork;
  }
  void Leave(uint32_t fork, Node::Greed greed) { (greed == Node::Greed::kLazy ? At(fork).a : At(fork).b) = Here(); }

  void EmitInside(Op op, const Node& node) {
    const uint32_t outer = Add(op);
    At(outer).negated = node.negated;
    Emit(*node.children[0]);
    Add(Op::kEnd);
    At(outer).a = Here();
  }

  static std::optional<uint32_t> Width(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kSet:
        return 1;
      case Node::Kind::kConcat: {
        uint32_t sum = 0;
        for (const auto& child : node.children) {
          const std::optional<uint32_t> width = Width(*child);
          if (!width) return std::nullopt;
          sum += *width;
        }
        return sum;
      }
      case Node::Kind::kAlternate: {
        const std::optional<uint32_t> width = Width(*node.children[0]);
        for (const auto& child : node.children) {
          if (Width(*child) != width) return std::nullopt;
        }
        return width;
      }
      case Node::Kind::kRepeat: {
        const std::optional<uint32_t> width = Width(*node.children[0]);
        if (!width || node.minimum != node.maximum) return std::nullopt;
        const uint64_t all = uint64_t{*width} * node.minimum;
        if (all > kRegexMaxRepeat) return std::nullopt;
        return static_cast<uint32_t>(all);
      }
      case Node::Kind::kAtomic:
        return Width(*node.children[0]);
      default:
        return 0;
    }
  }

  // Alternatives at the top may have different widths.
  void EmitLookbehind(const Node& node) {
    const Node& child = *node.children[0];
    std::vector<const Node*> branches;
    if (child.kind == Node::Kind::kAlternate) {
      for (const auto& branch : child.children) branches.push_back(branch.get());
    } else {
      branches.push_back(&child);
    }
    std::vector<uint32_t> widths;
    for (const Node* branch : branches) {
      const std::optional<uint32_t> width = Width(*branch);
      if (!width) Fail("looks behind for a text of no fixed length, which is not supported");
      widths.push_back(*width);
    }
    const auto behind = [&](size_t i) {
      const uint32_t outer = Add(Op::kLookbehind);
      At(outer).negated = node.negated;
      At(outer).minimum = widths[i];
      Emit(*branches[i]);
      Add(Op::kEnd);
      At(outer).a = Here();
    };
    if (node.negated) {
      for (size_t i = 0; i < branches.size(); ++i) behind(i);
      return;
    }
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i < branches.size(); ++i) {
      const bool last = i + 1 == branches.size();
      uint32_t fork = 0;
      if (!last) {
        fork = Add(Op::kFork);
        At(fork).a = fork + 1;
      }
      behind(i);
      if (!last) {
        jumps.push_back(Add(Op::kJump));
        At(fork).b = Here();
      }
    }
    for (const uint32_t jump : jumps) At(jump).a = Here();
  }

  std::string_view pattern_;
  const std::string& label_;
  std::shared_ptr<RegexProgram> program_ = std::make_shared<RegexProgram>();
  std::vector<CodePointSet> sets_;  // of the classes
};

}  // namespace

std::shared_ptr<const RegexProgram> CompileRegex(std::string_view pattern, const std::string& label) {
  return Compiler(pattern, label).Compile();
}

}  // namespace owml::text
