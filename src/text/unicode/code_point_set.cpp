// Set algebra on ranges of code points; the names of properties.
// Called by the parser of regular expressions.
#include "text/unicode/code_point_set.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "text/unicode/cases.h"
#include "text/unicode/classes.h"
#include "text/unicode/scripts.h"

namespace owml::text {

CodePointSet CodePointSet::Of(char32_t first, char32_t last) {
  CodePointSet set;
  set.ranges_.push_back({first, last});
  return set;
}

CodePointSet CodePointSet::OfRanges(std::vector<Range> ranges) {
  CodePointSet set;
  set.ranges_ = std::move(ranges);
  set.Normalize();
  return set;
}

CodePointSet CodePointSet::OfCategories(uint32_t mask) {
  CodePointSet set;
  bool inside = false;
  for (const CategoryRun& run : CategoryRuns()) {
    const bool wanted = (mask & Mask(run.category)) != 0;
    if (wanted && inside) {
      set.ranges_.back().last = run.last;
    } else if (wanted) {
      set.ranges_.push_back({run.first, run.last});
    }
    inside = wanted;
  }
  return set;
}

CodePointSet CodePointSet::OfPredicate(bool (*predicate)(char32_t)) {
  // Every code point is asked, once for each predicate.
  static std::mutex mutex;
  static std::map<bool (*)(char32_t), CodePointSet> known;
  const std::lock_guard lock(mutex);
  const auto [found, added] = known.try_emplace(predicate);
  CodePointSet& set = found->second;
  if (!added) return set;
  bool inside = false;
  for (char32_t code = 0; code <= kLastCodePoint; ++code) {
    const bool wanted = predicate(code);
    if (wanted && !inside) set.ranges_.push_back({code, code});
    if (wanted) set.ranges_.back().last = code;
    inside = wanted;
  }
  return set;
}

void CodePointSet::Add(char32_t first, char32_t last) {
  ranges_.push_back({first, last});
  Normalize();
}

void CodePointSet::Add(const CodePointSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  Normalize();
}

void CodePointSet::Normalize() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

CodePointSet CodePointSet::Complement() const {
  CodePointSet set;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) set.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) set.ranges_.push_back({next, kLastCodePoint});
  return set;
}

CodePointSet CodePointSet::Intersection(const CodePointSet& other) const {
  CodePointSet set = Complement();
  set.Add(other.Complement());
  return set.Complement();
}

CodePointSet CodePointSet::WithoutCase() const {
  std::set<char32_t> targets;
  for (const CasePair& pair : Folds()) {
    if (Contains(pair.from) || Contains(pair.to)) targets.insert(pair.to);
  }
  CodePointSet set = *this;
  for (const CasePair& pair : Folds()) {
    if (targets.contains(pair.to)) {
      set.ranges_.push_back({pair.from, pair.from});
      set.ranges_.push_back({pair.to, pair.to});
    }
  }
  set.Normalize();
  return set;
}

bool CodePointSet::Contains(char32_t code) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), code,
                                      [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != ranges_.begin() && std::prev(after)->last >= code;
}

std::string PlainPropertyName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  return plain;
}

bool FindProperty(std::string_view name, CodePointSet* set) {
  const std::string wanted = PlainPropertyName(name);
  if (const uint32_t mask = CategoryMask(wanted)) {
    *set = CodePointSet::OfCategories(mask);
    return true;
  }
  struct Other {
    std::string_view name;
    bool (*predicate)(char32_t);
  };
  static constexpr Other kOthersByName[] = {
      {"alpha", IsAlphabetic},
      {"alphabetic", IsAlphabetic},
      {"word", IsWord},
      {"space", IsWhiteSpace},
      {"whitespace", IsWhiteSpace},
      {"alnum", [](char32_t c) { return IsAlphabetic(c) || IsIn(c, Mask(kNd)); }},
      {"digit", [](char32_t c) { return IsIn(c, Mask(kNd)); }},
      {"lower", [](char32_t c) { return IsIn(c, Mask(kLl)); }},
      {"upper", [](char32_t c) { return IsIn(c, Mask(kLu)); }},
      {"punct", [](char32_t c) { return IsIn(c, kPunctuationMarks | kSymbols); }},
      {"cntrl", [](char32_t c) { return IsIn(c, kControls); }},
      {"blank", [](char32_t c) { return c == '\t' || IsIn(c, Mask(kZs)); }},
      {"xdigit",
       [](char32_t c) { return c < 0x80 && ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f')); }},
      {"ascii", [](char32_t c) { return c < 0x80; }},
  };
  for (const Other& other : kOthersByName) {
    if (other.name == wanted) {
      *set = CodePointSet::OfPredicate(other.predicate);
      return true;
    }
  }
  return FindScript(wanted, set);
}

}  // namespace owml::text
