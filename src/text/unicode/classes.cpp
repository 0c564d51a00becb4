// The tables of character classes, unpacked from ranges.
// Called through classes.h.
#include "text/unicode/classes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "text/unicode/character_table_builder.h"

namespace owml::text {
namespace {

struct CategoryRange {
  char32_t start;
  Category category;
};

struct FlagRange {
  char32_t start;
  uint8_t flags;
};

#include "text/unicode/classes.inc"

const CharacterTable& Flags() {
  static const CharacterTable table =
      CharacterTableBuilder::Build(kFlagRanges, [](const FlagRange& r) { return r.flags; });
  return table;
}

struct NamedMask {
  std::string_view name;
  uint32_t mask;
};

constexpr NamedMask kNames[] = {
    {"any", kAllCategories},
    {"l", kLetters},
    {"letter", kLetters},
    {"lu", Mask(kLu)},
    {"ll", Mask(kLl)},
    {"lt", Mask(kLt)},
    {"lm", Mask(kLm)},
    {"lo", Mask(kLo)},
    {"m", kMarks},
    {"mark", kMarks},
    {"mn", Mask(kMn)},
    {"mc", Mask(kMc)},
    {"me", Mask(kMe)},
    {"n", kNumbers},
    {"number", kNumbers},
    {"nd", Mask(kNd)},
    {"nl", Mask(kNl)},
    {"no", Mask(kNo)},
    {"p", kPunctuationMarks},
    {"punctuation", kPunctuationMarks},
    {"pc", Mask(kPc)},
    {"pd", Mask(kPd)},
    {"ps", Mask(kPs)},
    {"pe", Mask(kPe)},
    {"pi", Mask(kPi)},
    {"pf", Mask(kPf)},
    {"po", Mask(kPo)},
    {"s", kSymbols},
    {"symbol", kSymbols},
    {"sm", Mask(kSm)},
    {"sc", Mask(kSc)},
    {"sk", Mask(kSk)},
    {"so", Mask(kSo)},
    {"z", kSeparators},
    {"separator", kSeparators},
    {"zs", Mask(kZs)},
    {"zl", Mask(kZl)},
    {"zp", Mask(kZp)},
    {"c", kOthers},
    {"other", kOthers},
    {"cc", kControls},
    {"cf", Mask(kCf)},
    {"cn", Mask(kCn)},
    {"co", Mask(kCo)},
    {"cs", Mask(kCs)},
};

}  // namespace

uint32_t CategoryMask(std::string_view name) {
  for (const NamedMask& named : kNames) {
    if (named.name == name) return named.mask;
  }
  return 0;
}

const CharacterTable& Categories() {
  static const CharacterTable table = CharacterTableBuilder::Build(
      kCategoryRanges, [](const CategoryRange& r) { return static_cast<uint8_t>(r.category); });
  return table;
}

const std::vector<CategoryRun>& CategoryRuns() {
  static const std::vector<CategoryRun> runs = [] {
    constexpr char32_t kLast = 0x10FFFF;
    std::vector<CategoryRun> all;
    for (const CategoryRange& range : kCategoryRanges) {
      if (!all.empty()) all.back().last = range.start - 1;
      all.push_back({range.start, kLast, range.category});
    }
    return all;
  }();
  return runs;
}

uint32_t CategoriesBetween(char32_t first, char32_t last) {
  const std::vector<CategoryRun>& runs = CategoryRuns();
  uint32_t mask = 0;
  auto run = std::lower_bound(runs.begin(), runs.end(), first,
                              [](const CategoryRun& left, char32_t code) { return left.last < code; });
  for (; run != runs.end() && run->first <= last; ++run) mask |= Mask(run->category);
  return mask;
}

bool IsWord(char32_t code) { return Flags()[code] & kWord; }
bool IsAlphabetic(char32_t code) { return Flags()[code] & kAlphabetic; }
bool IsPlainWord(char32_t code) { return Flags()[code] & kPlainWord; }
bool IsPunctuation(char32_t code) { return Flags()[code] & kPunctuation; }
bool IsNumeric(char32_t code) { return Flags()[code] & kNumeric; }
bool IsCombining(char32_t code) { return Flags()[code] & kCombining; }
bool IsNonspacing(char32_t code) { return Flags()[code] & kNonspacing; }
bool IsControl(char32_t code) { return Flags()[code] & kControl; }

}  // namespace owml::text
