// All threads of the pattern walk over the text together, each at most once at a place.
// Called by ConstraintTriggers.
#include "text/constraint/pattern_search.h"

#include "base/error.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {
constexpr size_t kNowhere = SIZE_MAX;
}

using Kind = PatternNode::Kind;

PatternSearch::PatternSearch(const Pattern& pattern, Mode mode) : mode_(mode) {
  const uint32_t match = Emit({});
  start_ = Compile(pattern, pattern.root(), match);
  seen_.assign(program_.size(), 0);
  Reset();
}

uint32_t PatternSearch::Emit(Instruction instruction) {
  if (program_.size() >= kMostInstructions) throw Error(E_INVALIDARG, "a trigger's pattern repeats too much");
  program_.push_back(std::move(instruction));
  return static_cast<uint32_t>(program_.size() - 1);
}

// From the end to the start: returns where to enter `node` when it goes on at `next`.
uint32_t PatternSearch::Compile(const Pattern& pattern, uint32_t node, uint32_t next) {
  const PatternNode& what = pattern.nodes()[node];
  Instruction instruction;
  instruction.next = next;
  switch (what.kind) {
    case Kind::kSequence:
      for (size_t i = what.children.size(); i-- > 0;) next = Compile(pattern, what.children[i], next);
      return next;
    case Kind::kChoice: {
      uint32_t entry = Compile(pattern, what.children.back(), next);
      for (size_t i = what.children.size() - 1; i-- > 0;) {
        Instruction split;
        split.op = Instruction::Op::kSplit;
        split.next = Compile(pattern, what.children[i], next);
        split.other = entry;
        entry = Emit(std::move(split));
      }
      return entry;
    }
    case Kind::kSet:
      instruction.op = Instruction::Op::kSet;
      instruction.set = std::make_shared<CodePointSet>(what.set);
      return Emit(std::move(instruction));
    case Kind::kTextStart:
      instruction.op = Instruction::Op::kTextStart;
      return Emit(std::move(instruction));
    case Kind::kTextEnd:
      instruction.op = Instruction::Op::kTextEnd;
      return Emit(std::move(instruction));
    case Kind::kCapture: {
      if (what.capture > kGroups) return Compile(pattern, what.children[0], next);
      instruction.op = Instruction::Op::kSave;
      instruction.slot = 2 * (what.capture - 1) + 1;
      Instruction open;
      open.op = Instruction::Op::kSave;
      open.slot = 2 * (what.capture - 1);
      open.next = Compile(pattern, what.children[0], Emit(std::move(instruction)));
      return Emit(std::move(open));
    }
    case Kind::kRepeat:
      break;
  }
  const auto split = [&](uint32_t again, uint32_t leave) {
    Instruction fork;
    fork.op = Instruction::Op::kSplit;
    fork.next = what.lazy ? leave : again;
    fork.other = what.lazy ? again : leave;
    return fork;
  };
  uint32_t entry = next;
  if (what.maximum == PatternNode::kUnbounded) {
    entry = Emit(split(next, next));
    const uint32_t body = Compile(pattern, what.children[0], entry);
    program_[entry] = split(body, next);
  } else {
    for (uint32_t i = what.minimum; i < what.maximum; ++i) {
      const uint32_t body = Compile(pattern, what.children[0], entry);
      entry = Emit(split(body, next));
    }
  }
  for (uint32_t i = 0; i < what.minimum; ++i) {
    // A turn that emits nothing still counts, so that empty texts are not repeated without end.
    Instruction step;
    step.op = Instruction::Op::kSplit;
    step.next = step.other = Compile(pattern, what.children[0], entry);
    entry = Emit(std::move(step));
  }
  return entry;
}

void PatternSearch::Follow(std::vector<Thread>* threads, Thread thread, bool at_end,
                           std::optional<Thread>* match) const {
  std::vector<Thread> open{thread};
  while (!open.empty()) {
    Thread now = open.back();
    open.pop_back();
    if (seen_[now.at] == stamp_) continue;
    seen_[now.at] = stamp_;
    const Instruction& what = program_[now.at];
    switch (what.op) {
      case Instruction::Op::kSet:
        threads->push_back(now);
        break;
      case Instruction::Op::kSplit: {
        Thread second = now;
        second.at = what.other;
        open.push_back(second);
        now.at = what.next;
        open.push_back(now);
        break;
      }
      case Instruction::Op::kSave:
        now.places[what.slot] = size_;
        now.at = what.next;
        open.push_back(now);
        break;
      case Instruction::Op::kTextStart:
        if (size_ == 0) {
          now.at = what.next;
          open.push_back(now);
        }
        break;
      case Instruction::Op::kTextEnd:
        if (at_end) {
          now.at = what.next;
          open.push_back(now);
        } else {
          threads->push_back(now);  // the text may end here after all
        }
        break;
      case Instruction::Op::kMatch:
        if (mode_ == Mode::kAnywhere) {
          if (!*match) *match = now;
        } else if (at_end) {
          if (!*match) *match = now;
        } else {
          threads->push_back(now);
        }
        break;
    }
  }
}

void PatternSearch::Reset() {
  threads_.clear();
  match_.reset();
  size_ = 0;
  ++stamp_;
  Thread thread;
  thread.at = start_;
  thread.places.fill(kNowhere);
  Follow(&threads_, thread, false, &match_);
}

void PatternSearch::Append(std::string_view text) {
  std::vector<Thread> next;
  for (size_t at = 0; at < text.size() && !match_;) {
    const Character character = DecodeCharacter(text, at);
    at += character.length;
    size_ += character.length;
    ++stamp_;
    next.clear();
    for (const Thread& thread : threads_) {
      const Instruction& what = program_[thread.at];
      if (what.op != Instruction::Op::kSet || !what.set->Contains(character.code)) continue;
      Thread moved = thread;
      moved.at = what.next;
      Follow(&next, moved, false, &match_);
    }
    if (mode_ == Mode::kAnywhere && !match_) {
      Thread fresh;
      fresh.at = start_;
      fresh.begin = size_;
      fresh.places.fill(kNowhere);
      Follow(&next, fresh, false, &match_);
    }
    threads_.swap(next);
  }
}

std::optional<size_t> PatternSearch::Found() const {
  if (match_) return Place(*match_);
  // Threads that only wait for the end of the text.
  std::optional<Thread> match;
  std::vector<Thread> ignored;
  ++stamp_;
  for (const Thread& thread : threads_) {
    const Instruction::Op op = program_[thread.at].op;
    if (op == Instruction::Op::kTextEnd || op == Instruction::Op::kMatch) Follow(&ignored, thread, true, &match);
    if (match) return Place(*match);
  }
  return std::nullopt;
}

size_t PatternSearch::Place(const Thread& thread) {
  for (size_t group = 0; group < kGroups; ++group) {
    const size_t begin = thread.places[2 * group], end = thread.places[2 * group + 1];
    if (begin != kNowhere && end != kNowhere && end > begin) return begin;
  }
  return thread.begin;
}

}  // namespace owml::text
