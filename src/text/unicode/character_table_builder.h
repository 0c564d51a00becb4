// Unpacks sorted ranges into a two-level table in which equal blocks are kept once.
// Used by the .cpp files of the character tables.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode/classes.h"

namespace owml::text {

class CharacterTableBuilder {
 public:
  // `values` has one for each code point.
  static CharacterTable Build(const std::vector<uint8_t>& values) {
    constexpr size_t kBlock = 256;
    CharacterTable table;
    std::map<std::string_view, uint16_t> seen;
    std::string_view last;
    uint16_t last_number = 0;
    std::string blocks;
    const std::string_view all(reinterpret_cast<const char*>(values.data()), values.size());
    for (size_t number = 0; number < table.index_.size(); ++number) {
      const std::string_view block = all.substr(number * kBlock, kBlock);
      if (block != last) {
        const auto [found, added] = seen.try_emplace(block, static_cast<uint16_t>(seen.size()));
        if (added) blocks += block;
        last = block;
        last_number = found->second;
      }
      table.index_[number] = last_number;
    }
    table.blocks_ = std::make_unique<uint8_t[]>(blocks.size());
    std::memcpy(table.blocks_.get(), blocks.data(), blocks.size());
    return table;
  }

  // `ranges` start at 0 and are sorted by their member `start`; each reaches to the next one.
  template <typename Range, size_t kCount, typename ValueOf>
  static CharacterTable Build(const Range (&ranges)[kCount], ValueOf value_of) {
    std::vector<uint8_t> values(0x110000);
    for (size_t i = 0; i < kCount; ++i) {
      const size_t end = i + 1 < kCount ? ranges[i + 1].start : values.size();
      std::memset(values.data() + ranges[i].start, static_cast<uint8_t>(value_of(ranges[i])), end - ranges[i].start);
    }
    return Build(values);
  }
};

}  // namespace owml::text
