// A fast 64-bit hash of short byte strings. Not for tables that a stranger may fill to make them slow: those bound
// their probes. Used by the token table and the caches of the models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace owml::text {

inline uint64_t MixHash(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xE7037ED1A0B428DBu);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t HashBytes(std::string_view bytes) {
  const char* data = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = 0x8EBC6AF09C88C6E3u ^ left;
  uint64_t word = 0;
  while (left >= 8) {
    std::memcpy(&word, data, 8);
    hash = MixHash(hash, word);
    data += 8;
    left -= 8;
  }
  if (left == 0) return MixHash(hash, bytes.size());
  word = 0;
  std::memcpy(&word, data, left);
  return MixHash(hash, word);
}

}  // namespace owml::text
