// Overflow-checked shape arithmetic.
// Called wherever a size is computed from untrusted extents.
#include "base/shape.h"

namespace owml {

bool IsConcrete(std::span<const uint64_t> dims) {
  for (uint64_t d : dims) {
    if (d == kFreeDimension) return false;
  }
  return true;
}

std::optional<uint64_t> ElementCount(std::span<const uint64_t> dims) {
  uint64_t count = 1;
  bool zero = false;
  for (uint64_t d : dims) {
    if (d == kFreeDimension) return std::nullopt;
    if (d == 0) {
      zero = true;
      continue;
    }
    // The other extents are multiplied even beside a zero, so that strides of an empty tensor cannot wrap either.
    if (__builtin_mul_overflow(count, d, &count)) return std::nullopt;
  }
  return zero ? 0 : count;
}

std::optional<uint64_t> ByteSize(DType dtype, std::span<const uint64_t> dims) {
  const std::optional<uint64_t> count = ElementCount(dims);
  if (!count) return std::nullopt;
  const uint64_t bits = static_cast<uint64_t>(BitsPerElement(dtype));
  if (bits < 8) return *count / 2 + *count % 2;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(*count, bits / 8, &bytes)) return std::nullopt;
  return bytes;
}

std::string ToString(std::span<const uint64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) text += ", ";
    text += dims[i] == kFreeDimension ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

std::string ToString(DType dtype, std::span<const uint64_t> dims) {
  return std::string(Name(dtype)) + " " + ToString(dims);
}

bool Matches(std::span<const uint64_t> declared, std::span<const uint64_t> actual) {
  if (declared.size() != actual.size()) return false;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (declared[i] != kFreeDimension && declared[i] != actual[i]) return false;
  }
  return true;
}

}  // namespace owml
