// The head of a file with packed weights, as the native engine keeps them in the user's cache: what they were made
// from, how many bytes follow, a checksum. Read by the engine's cache and by `owml cache`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace owml {

struct PackedFileHead {
  using Key = std::array<uint8_t, 32>;

  // The weights follow at this offset, so that a map of the file aligns them.
  static constexpr size_t kBytes = 4096;
  static constexpr size_t kMaxSource = 2048;  // bytes of `source`; longer ones are cut

  Key key{};
  uint64_t payload_bytes = 0;
  uint64_t checksum = 0;  // of the payload
  std::string source;     // the model's name, for people

  std::array<std::byte, kBytes> Bytes() const;
  // Nothing when the bytes are no such head.
  static std::optional<PackedFileHead> Parse(std::span<const std::byte> bytes);
};

// Tells apart contents that differ by accident (a torn write, a bad disk), not by intent.
uint64_t PackedChecksum(std::span<const std::byte> bytes);

}  // namespace owml
