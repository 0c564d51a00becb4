// A cursor over bytes in memory that never reads past them: little-endian numbers and slices, or nothing.
// Used by the binary format readers; callers turn "nothing" into a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace owml {

// A little-endian number from bytes of any alignment. `bytes` must hold sizeof(T).
template <typename T>
T LoadLittleEndian(const std::byte* bytes) {
  static_assert(std::is_arithmetic_v<T>);
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a big-endian host needs a swap here");
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  std::optional<T> Read() {
    if (remaining() < sizeof(T)) return std::nullopt;
    const T value = LoadLittleEndian<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return value;
  }

  std::optional<std::span<const std::byte>> Take(uint64_t length) {
    if (length > remaining()) return std::nullopt;
    const auto slice = bytes_.subspan(position_, static_cast<size_t>(length));
    position_ += static_cast<size_t>(length);
    return slice;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace owml
