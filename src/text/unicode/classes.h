// What kind of character a code point is: its general category in Unicode 16 and the sets that tokenizers split on.
// Used by the regular expressions, the normalizers and the pre-tokenizers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace owml::text {

enum Category : uint8_t {
  kCn,
  kLu,
  kLl,
  kLt,
  kLm,
  kLo,
  kMn,
  kMc,
  kMe,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPs,
  kPe,
  kPi,
  kPf,
  kPo,
  kSm,
  kSc,
  kSk,
  kSo,
  kZs,
  kZl,
  kZp,
  kCc,
  kCf,
  kCo,
  kCs,
  kCcSpace,  // the control characters that are white space
};

constexpr uint32_t Mask(Category category) { return uint32_t{1} << category; }

inline constexpr uint32_t kLetters = Mask(kLu) | Mask(kLl) | Mask(kLt) | Mask(kLm) | Mask(kLo);
inline constexpr uint32_t kMarks = Mask(kMn) | Mask(kMc) | Mask(kMe);
inline constexpr uint32_t kNumbers = Mask(kNd) | Mask(kNl) | Mask(kNo);
inline constexpr uint32_t kPunctuationMarks =
    Mask(kPc) | Mask(kPd) | Mask(kPs) | Mask(kPe) | Mask(kPi) | Mask(kPf) | Mask(kPo);
inline constexpr uint32_t kSymbols = Mask(kSm) | Mask(kSc) | Mask(kSk) | Mask(kSo);
inline constexpr uint32_t kSeparators = Mask(kZs) | Mask(kZl) | Mask(kZp);
inline constexpr uint32_t kControls = Mask(kCc) | Mask(kCcSpace);
inline constexpr uint32_t kOthers = kControls | Mask(kCf) | Mask(kCo) | Mask(kCs) | Mask(kCn);
inline constexpr uint32_t kWhiteSpace = kSeparators | Mask(kCcSpace);
inline constexpr uint32_t kAllCategories = (uint32_t{1} << (kCcSpace + 1)) - 1;

// The mask of "l", "lu", "nd", "letter", "any", ...; 0 for another name.
uint32_t CategoryMask(std::string_view name);

// Two-level table of one byte for each code point.
class CharacterTable {
 public:
  CharacterTable() { index_.fill(0); }

  uint8_t operator[](char32_t code) const {
    return blocks_[(static_cast<size_t>(index_[code >> 8]) << 8) | (code & 0xFF)];
  }

 private:
  friend class CharacterTableBuilder;

  std::array<uint16_t, 0x1100> index_;
  std::unique_ptr<uint8_t[]> blocks_;
};

// Built at the first call; constant afterwards.
const CharacterTable& Categories();

// All code points in order, cut where the category changes.
struct CategoryRun {
  char32_t first;
  char32_t last;
  Category category;
};
const std::vector<CategoryRun>& CategoryRuns();
// Of the categories that occur from `first` to `last`.
uint32_t CategoriesBetween(char32_t first, char32_t last);

inline bool IsIn(char32_t code, uint32_t mask) { return (mask >> Categories()[code]) & 1; }
inline bool IsWhiteSpace(char32_t code) { return IsIn(code, kWhiteSpace); }

// Sets that are no unions of categories, or follow another version of Unicode than the categories do.
bool IsWord(char32_t code);         // \w of Oniguruma
bool IsAlphabetic(char32_t code);   // [[:alpha:]]
bool IsPlainWord(char32_t code);    // \w of the Whitespace pre-tokenizer and of single-word tokens
bool IsPunctuation(char32_t code);  // of the Punctuation and Bert pre-tokenizers
bool IsNumeric(char32_t code);      // of the Digits pre-tokenizer
bool IsCombining(char32_t code);    // what StripAccents removes
bool IsNonspacing(char32_t code);   // what the Bert normalizer removes as accents
bool IsControl(char32_t code);      // what the Bert normalizer removes as control characters

}  // namespace owml::text
