// A set of code points as sorted ranges, and set algebra over them.
// Used to build the classes of regular expressions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

class CodePointSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    bool operator==(const Range&) const = default;
  };

  CodePointSet() = default;
  static CodePointSet Of(char32_t first, char32_t last);
  static CodePointSet All() { return Of(0, kLastCodePoint); }
  // In any order; they may overlap.
  static CodePointSet OfRanges(std::vector<Range> ranges);
  // By the mask of categories in classes.h.
  static CodePointSet OfCategories(uint32_t mask);
  static CodePointSet OfPredicate(bool (*predicate)(char32_t));

  void Add(char32_t first, char32_t last);
  void Add(const CodePointSet& other);
  CodePointSet Complement() const;
  CodePointSet Intersection(const CodePointSet& other) const;
  // With all characters that differ from a member in case only.
  CodePointSet WithoutCase() const;

  bool Contains(char32_t code) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const CodePointSet&) const = default;

 private:
  void Normalize();

  std::vector<Range> ranges_;  // sorted, apart by at least one code point
};

// Lower case, without spaces, dashes and underlines.
std::string PlainPropertyName(std::string_view name);

// The category, script or other property that `name` means in \p{name}, whatever its case, spaces, dashes and
// underlines. False when there is none.
bool FindProperty(std::string_view name, CodePointSet* set);

}  // namespace owml::text
