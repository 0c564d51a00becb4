// SHA-256 of bytes, for manifests and identities.
// Used where a file or a text must be told apart from every other; not for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace owml {

class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view text) { Add(std::as_bytes(std::span(text.data(), text.size()))); }

  // Ends the message; the object must not be used afterwards.
  Digest Finish();

 private:
  void Compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t size_ = 0;  // bytes so far
};

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const std::byte> bytes);
std::string Sha256Hex(std::string_view text);

}  // namespace owml
