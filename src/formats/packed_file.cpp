// Layout of the head and the checksum.
// Numbers are little-endian; the files never leave the machine that wrote them.
#include "formats/packed_file.h"

#include <algorithm>
#include <cstring>

namespace owml {
namespace {

constexpr char kMagic[8] = {'O', 'W', 'M', 'L', 'P', 'A', 'C', 'K'};

struct Fixed {
  char magic[8];
  uint8_t key[32];
  uint64_t payload_bytes;
  uint64_t checksum;
  uint32_t source_bytes;
  uint32_t reserved;
};
static_assert(sizeof(Fixed) + PackedFileHead::kMaxSource <= PackedFileHead::kBytes);

}  // namespace

std::array<std::byte, PackedFileHead::kBytes> PackedFileHead::Bytes() const {
  Fixed fixed = {};
  std::copy(std::begin(kMagic), std::end(kMagic), fixed.magic);
  std::copy(key.begin(), key.end(), fixed.key);
  fixed.payload_bytes = payload_bytes;
  fixed.checksum = checksum;
  fixed.source_bytes = static_cast<uint32_t>(std::min(source.size(), kMaxSource));
  std::array<std::byte, kBytes> bytes{};
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  std::memcpy(bytes.data() + sizeof fixed, source.data(), fixed.source_bytes);
  return bytes;
}

std::optional<PackedFileHead> PackedFileHead::Parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  Fixed fixed;
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (!std::equal(std::begin(kMagic), std::end(kMagic), fixed.magic) || fixed.source_bytes > kMaxSource) {
    return std::nullopt;
  }
  PackedFileHead head;
  std::copy(std::begin(fixed.key), std::end(fixed.key), head.key.begin());
  head.payload_bytes = fixed.payload_bytes;
  head.checksum = fixed.checksum;
  head.source.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof fixed, fixed.source_bytes);
  return head;
}

// Eight sums side by side, so that the processor's multipliers work in parallel and memory sets the pace.
uint64_t PackedChecksum(std::span<const std::byte> bytes) {
  constexpr size_t kLanes = 8;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;  // 2^64 divided by the golden ratio, odd
  uint64_t lanes[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto add = [&lanes](const std::byte* at) {
    for (size_t i = 0; i < kLanes; ++i) {
      uint64_t word;
      std::memcpy(&word, at + i * sizeof word, sizeof word);
      const uint64_t mixed = (lanes[i] ^ word) * kFactor;
      lanes[i] = mixed ^ (mixed >> 29);
    }
  };
  constexpr size_t kStep = kLanes * sizeof(uint64_t);
  size_t at = 0;
  for (; at + kStep <= bytes.size(); at += kStep) add(bytes.data() + at);
  std::byte rest[kStep] = {};
  std::memcpy(rest, bytes.data() + at, bytes.size() - at);
  add(rest);
  uint64_t sum = bytes.size();
  for (const uint64_t lane : lanes) {
    sum = (sum ^ lane) * kFactor;
    sum ^= sum >> 32;
  }
  return sum;
}

}  // namespace owml
