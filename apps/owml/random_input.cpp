// One generator for each input, seeded by the seed and the input's number.
// Only the generator's own numbers are used: the distributions of the standard library differ between libraries.
#include "random_input.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <random>

#include "base/half.h"
#include "bfloat16.h"
#include "failure.h"

namespace owml::cli {

std::vector<std::byte> RandomData(DType dtype, const Dims& dims, uint64_t seed, uint32_t index,
                                  const std::string& name) {
  constexpr uint64_t kLimit = uint64_t{1} << 36;
  const std::optional<uint64_t> size = ByteSize(dtype, dims);
  if (!size || *size > kLimit) {
    throw Failure(fmt::format("input '{}' {} is too large for random values", name, ToString(dtype, dims)),
                  E_INVALIDARG);
  }
  std::mt19937_64 generator(seed + 0x9E3779B97F4A7C15u * index);
  std::vector<std::byte> data(static_cast<size_t>(*size));
  const size_t width = static_cast<size_t>(BytesPerElement(dtype));
  if (width == 0) {
    for (auto& byte : data) byte = static_cast<std::byte>(generator() & 0x77);
    return data;
  }
  auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
  auto put = [&](size_t at, auto value) { std::memcpy(data.data() + at, &value, sizeof value); };
  for (size_t at = 0; at + width <= data.size(); at += width) {
    switch (dtype) {
      case DType::kFloat32:
        put(at, static_cast<float>(unit()));
        break;
      case DType::kFloat64:
        put(at, unit());
        break;
      case DType::kFloat16:
        put(at, FloatToHalf(static_cast<float>(unit())));
        break;
      case DType::kBFloat16:
        put(at, FloatToBFloat16(static_cast<float>(unit())));
        break;
      case DType::kBool:
        put(at, static_cast<uint8_t>(generator() & 1));
        break;
      default: {
        const uint64_t value = generator() % 10;  // little-endian: the low bytes are the value in every width
        std::memcpy(data.data() + at, &value, width);
      }
    }
  }
  return data;
}

}  // namespace owml::cli
