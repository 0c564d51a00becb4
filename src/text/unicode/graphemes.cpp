// The rules GB3 to GB13 of Unicode Standard Annex 29, walked forwards.
// Called through graphemes.h.
#include "text/unicode/graphemes.h"

#include <cstdint>

#include "text/unicode/character_table_builder.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

enum class Break : uint8_t {
  kOther,
  kCr,
  kLf,
  kControl,
  kExtend,       // may stand within an Indic conjunct
  kPlainExtend,  // may not
  kLinker,       // joins the consonants of a conjunct
  kJoiner,
  kRegional,
  kPrepend,
  kSpacingMark,
  kL,
  kV,
  kT,
  kLv,
  kLvt,
  kPictographic,
  kConsonant,
};

struct BreakRange {
  char32_t start;
  Break value;
};

#include "text/unicode/graphemes.inc"

Break BreakOf(char32_t code) {
  static const CharacterTable table = CharacterTableBuilder::Build(
      kBreakRanges, [](const BreakRange& range) { return static_cast<uint8_t>(range.value); });
  return static_cast<Break>(table[code]);
}

bool IsExtend(Break value) {
  return value == Break::kExtend || value == Break::kPlainExtend || value == Break::kLinker;
}

}  // namespace

size_t GraphemeEnd(std::string_view text, size_t at) {
  const Character first = DecodeCharacter(text, at);
  size_t end = at + first.length;
  if (first.code < 0x80 && end < text.size() && static_cast<uint8_t>(text[end]) < 0x80 && first.code != '\r')
    return end;
  Break last = BreakOf(first.code);
  bool pictographic = last == Break::kPictographic;  // it, then only what extends
  bool joined = false;                               // and at last a joiner
  bool consonant = last == Break::kConsonant;
  bool linked = false;
  bool odd_regionals = last == Break::kRegional;
  while (end < text.size()) {
    const Character character = DecodeCharacter(text, end);
    const Break next = BreakOf(character.code);
    bool together = false;
    if (last == Break::kCr) {
      together = next == Break::kLf;
    } else if (last == Break::kLf || last == Break::kControl || next == Break::kCr || next == Break::kLf ||
               next == Break::kControl) {
      together = false;
    } else if (last == Break::kL) {
      together = next == Break::kL || next == Break::kV || next == Break::kLv || next == Break::kLvt;
    } else if (last == Break::kLv || last == Break::kV) {
      together = next == Break::kV || next == Break::kT;
    } else if (last == Break::kLvt || last == Break::kT) {
      together = next == Break::kT;
    }
    if (last != Break::kCr && last != Break::kLf && last != Break::kControl) {
      together |= IsExtend(next) || next == Break::kJoiner || next == Break::kSpacingMark;
      together |= last == Break::kPrepend && next != Break::kCr && next != Break::kLf && next != Break::kControl;
      together |= linked && next == Break::kConsonant;
      together |= pictographic && joined && next == Break::kPictographic;
      together |= odd_regionals && next == Break::kRegional;
    }
    if (!together) return end;
    if (next == Break::kConsonant) {
      consonant = true;
      linked = false;
    } else if (next == Break::kLinker) {
      linked = consonant;
    } else if (next != Break::kExtend && next != Break::kJoiner) {
      consonant = linked = false;
    }
    joined = pictographic && next == Break::kJoiner;
    if (next == Break::kPictographic) {
      pictographic = true;
    } else if (!IsExtend(next) && next != Break::kJoiner) {
      pictographic = false;
    }
    odd_regionals = next == Break::kRegional ? !odd_regionals : false;
    last = next;
    end += character.length;
  }
  return end;
}

}  // namespace owml::text
