// The tables of scripts.
// Called through scripts.h.
#include "text/unicode/scripts.h"

#include <iterator>

#include "text/unicode/character_table_builder.h"

namespace owml::text {
namespace {

struct ScriptRange {
  char32_t start;
  uint8_t script;
};

#include "text/unicode/scripts.inc"

}  // namespace

bool FindScript(std::string_view plain_name, CodePointSet* set) {
  for (size_t script = 1; script < std::size(kScriptNames); ++script) {
    if (PlainPropertyName(kScriptNames[script]) != plain_name) continue;
    CodePointSet found;
    for (size_t i = 0; i < std::size(kScripts); ++i) {
      if (kScripts[i].script != script) continue;
      const char32_t last = i + 1 < std::size(kScripts) ? kScripts[i + 1].start - 1 : kLastCodePoint;
      found.Add(kScripts[i].start, last);
    }
    *set = std::move(found);
    return true;
  }
  return false;
}

uint8_t SplitScript(char32_t code) {
  static const CharacterTable table =
      CharacterTableBuilder::Build(kSplitScripts, [](const ScriptRange& range) { return range.script; });
  return table[code];
}

}  // namespace owml::text
