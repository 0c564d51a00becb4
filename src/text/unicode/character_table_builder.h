// Unpacks sorted ranges into a two-level table in which equal blocks are kept once.
// Used by the .cpp files of the character tables.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "text/unicode/classes.h"

namespace owml::text {

class CharacterTableBuilder {
 public:
  // `values` has one for each code point.
  static CharacterTable Build(const std::vector<uint8_t>& values) {
    return Build([&values](char32_t code) { return values[code]; });
  }

  // `ranges` start at 0 and are sorted by their member `start`; each reaches to the next one.
  template <typename Range, size_t kCount, typename ValueOf>
  static CharacterTable Build(const Range (&ranges)[kCount], ValueOf value_of) {
    size_t range = 0;
    return Build([&](char32_t code) {
      while (range + 1 < kCount && ranges[range + 1].start <= code) ++range;
      return static_cast<uint8_t>(value_of(ranges[range]));
    });
  }

 private:
  // Asks for the code points in order.
  template <typename ValueOf>
  static CharacterTable Build(ValueOf value_of) {
    CharacterTable table;
    std::map<std::string, uint16_t> seen;
    std::string blocks;
    std::string block(256, '\0');
    for (uint32_t number = 0; number < table.index_.size(); ++number) {
      for (uint32_t low = 0; low < 256; ++low) {
        block[low] = static_cast<char>(value_of((number << 8) | low));
      }
      const auto [found, added] = seen.try_emplace(block, static_cast<uint16_t>(seen.size()));
      if (added) blocks += block;
      table.index_[number] = found->second;
    }
    table.blocks_ = std::make_unique<uint8_t[]>(blocks.size());
    std::memcpy(table.blocks_.get(), blocks.data(), blocks.size());
    return table;
  }
};

}  // namespace owml::text
