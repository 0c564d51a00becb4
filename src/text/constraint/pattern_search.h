// Finds a pattern in a text that grows, one pass over the text: where it matched and where its first group began.
// Used by the triggers of lazy constraints.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "text/constraint/pattern.h"

namespace owml::text {

class PatternSearch {
 public:
  enum class Mode : uint8_t { kAnywhere, kWhole };

  // Throws E_INVALIDARG for a pattern that is too large to be run.
  PatternSearch(const Pattern& pattern, Mode mode);

  // Takes more text; whole characters only.
  void Append(std::string_view text);

  // Whether there is a match in the text so far (kWhole: of it), and the byte at which the first group that is not
  // empty begins, else the match itself.
  std::optional<size_t> Found() const;

  void Reset();

 private:
  static constexpr size_t kMostInstructions = 20000;
  static constexpr size_t kGroups = 4;

  struct Instruction {
    enum class Op : uint8_t { kSet, kSplit, kSave, kTextStart, kTextEnd, kMatch };
    Op op = Op::kMatch;
    std::shared_ptr<const CodePointSet> set;
    uint32_t next = 0;
    uint32_t other = 0;  // kSplit: tried second
    uint32_t slot = 0;   // kSave: of `places`
  };
  struct Thread {
    uint32_t at = 0;
    size_t begin = 0;
    std::array<size_t, 2 * kGroups> places{};  // begin and end of groups
  };

  uint32_t Emit(Instruction instruction);
  uint32_t Compile(const Pattern& pattern, uint32_t node, uint32_t next);
  // Follows what takes no character; keeps threads in order of preference.
  void Follow(std::vector<Thread>* threads, Thread thread, bool at_end, std::optional<Thread>* match) const;
  static size_t Place(const Thread& thread);

  Mode mode_;
  std::vector<Instruction> program_;
  uint32_t start_ = 0;
  std::vector<Thread> threads_;
  std::optional<Thread> match_;  // kAnywhere
  size_t size_ = 0;              // bytes so far
  mutable std::vector<uint32_t> seen_;
  mutable uint32_t stamp_ = 0;
};

}  // namespace owml::text
