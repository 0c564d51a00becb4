// Decomposition, canonical order and composition, applied only where a text may need them.
// Called by the normalizers.
#include "text/unicode/normalization.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "text/unicode/character_table_builder.h"
#include "text/unicode/code_point_set.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

struct Decomposition {
  char32_t code;
  uint16_t start;
  uint16_t length;
};

struct ClassRange {
  char32_t start;
  uint8_t value;
};

struct Composition {
  char32_t first;
  char32_t second;
  char32_t joined;
};

#include "text/unicode/normalization.inc"

constexpr char32_t kHangul = 0xAC00, kHangulL = 0x1100, kHangulV = 0x1161, kHangulT = 0x11A7;
constexpr uint32_t kHangulLs = 19, kHangulVs = 21, kHangulTs = 28, kHangulCount = kHangulLs * kHangulVs * kHangulTs;

// Reasons for which a character cannot just be copied.
constexpr uint8_t kOrdered = 1;     // has a combining class
constexpr uint8_t kDecomposes = 2;  // canonically
constexpr uint8_t kCompatibly = 4;
constexpr uint8_t kUnstable = 8;  // its canonical decomposition composes to something else
constexpr uint8_t kSecond = 16;   // may join the character before it

uint8_t CombiningClass(char32_t code) {
  static const CharacterTable table =
      CharacterTableBuilder::Build(kCombiningClasses, [](const ClassRange& r) { return r.value; });
  return table[code];
}

struct FlagAt {
  char32_t start;
  uint8_t flags;
};

char32_t Compose(char32_t first, char32_t second) {
  if (first >= kHangulL && first < kHangulL + kHangulLs && second >= kHangulV && second < kHangulV + kHangulVs) {
    return kHangul + ((first - kHangulL) * kHangulVs + (second - kHangulV)) * kHangulTs;
  }
  if (first >= kHangul && first < kHangul + kHangulCount && (first - kHangul) % kHangulTs == 0 && second > kHangulT &&
      second < kHangulT + kHangulTs) {
    return first + (second - kHangulT);
  }
  const auto found = std::lower_bound(std::begin(kCompositions), std::end(kCompositions), std::pair(first, second),
                                      [](const Composition& c, const std::pair<char32_t, char32_t>& wanted) {
                                        return std::pair(c.first, c.second) < wanted;
                                      });
  return found != std::end(kCompositions) && found->first == first && found->second == second ? found->joined : 0;
}

const CharacterTable& Reasons() {
  static const CharacterTable table = [] {
    std::vector<uint8_t> flags(kLastCodePoint + 1, 0);
    for (size_t i = 0; i < std::size(kCombiningClasses); ++i) {
      if (kCombiningClasses[i].value == 0) continue;
      const char32_t end = i + 1 < std::size(kCombiningClasses) ? kCombiningClasses[i + 1].start : kLastCodePoint + 1;
      for (char32_t code = kCombiningClasses[i].start; code < end; ++code) flags[code] |= kOrdered;
    }
    for (const Decomposition& d : kCanonical) flags[d.code] |= kDecomposes | kUnstable;
    for (const Decomposition& d : kCompatible) flags[d.code] |= kCompatibly;
    for (char32_t code = kHangul; code < kHangul + kHangulCount; ++code) flags[code] |= kDecomposes;
    for (char32_t code = kHangulV; code < kHangulV + kHangulVs; ++code) flags[code] |= kSecond;
    for (char32_t code = kHangulT + 1; code < kHangulT + kHangulTs; ++code) flags[code] |= kSecond;
    for (const Composition& c : kCompositions) {
      flags[c.joined] &= static_cast<uint8_t>(~kUnstable);
      flags[c.second] |= kSecond;
    }
    return CharacterTableBuilder::Build(flags);
  }();
  return table;
}

template <size_t kCount>
const Decomposition* Find(const Decomposition (&table)[kCount], char32_t code) {
  const auto found = std::lower_bound(std::begin(table), std::end(table), code,
                                      [](const Decomposition& d, char32_t wanted) { return d.code < wanted; });
  return found != std::end(table) && found->code == code ? found : nullptr;
}

}  // namespace

NormalizationWalk::NormalizationWalk(std::string_view text, NormalizationForm form) : text_(text), form_(form) {
  switch (form) {
    case NormalizationForm::kNfc:
      critical_ = kOrdered | kUnstable | kSecond;
      break;
    case NormalizationForm::kNfkc:
      critical_ = kOrdered | kUnstable | kSecond | kCompatibly;
      break;
    case NormalizationForm::kNfd:
      critical_ = kOrdered | kDecomposes;
      break;
    case NormalizationForm::kNfkd:
      critical_ = kOrdered | kDecomposes | kCompatibly;
      break;
  }
}

bool NormalizationWalk::Next(Segment* segment) {
  if (waiting_) {
    waiting_ = false;
    Normalize(at_, changed_end_);
    *segment = {at_, changed_end_, false, &characters_};
    at_ = changed_end_;
    return true;
  }
  if (at_ >= text_.size()) return false;
  const CharacterTable& reasons = Reasons();
  const size_t begin = at_;
  size_t last = begin;  // the last character before `at`: it may take part in what follows
  size_t at = begin;
  while (at < text_.size()) {
    const auto byte = static_cast<uint8_t>(text_[at]);
    if (byte < 0x80) {
      last = at++;
      continue;
    }
    const Character character = DecodeCharacter(text_, at);
    if ((reasons[character.code] & critical_) != 0) break;
    last = at;
    at += character.length;
  }
  if (at == text_.size()) {
    *segment = {begin, at, true, nullptr};
    at_ = at;
    return true;
  }
  size_t end = at;
  while (end < text_.size()) {
    const Character character = DecodeCharacter(text_, end);
    if (character.code < 0x80 || (reasons[character.code] & critical_) == 0) break;
    end += character.length;
  }
  const size_t start = at > begin ? last : at;
  changed_end_ = end;
  at_ = start;
  waiting_ = true;
  if (start > begin) {
    *segment = {begin, start, true, nullptr};
    return true;
  }
  return Next(segment);
}

void NormalizationWalk::Normalize(size_t begin, size_t end) {
  const bool compatible = form_ == NormalizationForm::kNfkc || form_ == NormalizationForm::kNfkd;
  characters_.clear();
  for (size_t at = begin; at < end;) {
    const Character character = DecodeCharacter(text_, at);
    const size_t next = at + character.length;
    const char32_t code = character.code;
    if (code >= kHangul && code < kHangul + kHangulCount) {
      const uint32_t index = code - kHangul;
      characters_.push_back({kHangulL + index / (kHangulVs * kHangulTs), at, next});
      characters_.push_back({kHangulV + index / kHangulTs % kHangulVs, at, next});
      if (index % kHangulTs != 0) characters_.push_back({kHangulT + index % kHangulTs, at, next});
    } else {
      const Decomposition* found = compatible ? Find(kCompatible, code) : nullptr;
      const char32_t* pool = kCompatibleText;
      if (!found) {
        found = Find(kCanonical, code);
        pool = kCanonicalText;
      }
      if (!found) {
        characters_.push_back({code, at, next});
      } else {
        for (uint32_t i = 0; i < found->length; ++i) characters_.push_back({pool[found->start + i], at, next});
      }
    }
    at = next;
  }

  // Canonical order within each run of characters that have a class.
  const auto by_class = [](const NormalizedCharacter& a, const NormalizedCharacter& b) {
    return CombiningClass(a.code) < CombiningClass(b.code);
  };
  for (size_t i = 0; i < characters_.size();) {
    if (CombiningClass(characters_[i].code) == 0) {
      ++i;
      continue;
    }
    size_t stop = i;
    while (stop < characters_.size() && CombiningClass(characters_[stop].code) != 0) ++stop;
    std::stable_sort(characters_.begin() + static_cast<std::ptrdiff_t>(i),
                     characters_.begin() + static_cast<std::ptrdiff_t>(stop), by_class);
    i = stop;
  }
  if (form_ == NormalizationForm::kNfd || form_ == NormalizationForm::kNfkd) return;

  size_t kept = 0;
  size_t starter = SIZE_MAX;
  uint8_t last_class = 0;
  for (size_t i = 0; i < characters_.size(); ++i) {
    const NormalizedCharacter current = characters_[i];
    const uint8_t current_class = CombiningClass(current.code);
    if (starter != SIZE_MAX) {
      const bool adjacent = kept == starter + 1;
      const bool blocked = !adjacent && (last_class == 0 || last_class >= current_class);
      if (!blocked) {
        if (const char32_t joined = Compose(characters_[starter].code, current.code)) {
          characters_[starter].code = joined;
          characters_[starter].end = std::max(characters_[starter].end, current.end);
          continue;
        }
      }
    }
    if (current_class == 0) starter = kept;
    last_class = current_class;
    characters_[kept++] = current;
  }
  characters_.resize(kept);
}

}  // namespace owml::text
