// Numbers for kernels, and comparison of a kernel with its scalar twin bit by bit.
// Used by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/weight_blocks.h"

namespace owml::test {

// Runs once for every instruction set of the machine.
class KernelTest : public testing::TestWithParam<kernels::Isa> {
 protected:
  const kernels::Kernels& kernels() const { return kernels::KernelsFor(GetParam()); }
  static const kernels::Kernels& oracle() { return kernels::KernelsFor(kernels::Isa::kScalar); }

  float Uniform(float low, float high) {
    return low + (high - low) * (static_cast<float>(random_() >> 8) / 16777216.0f);
  }
  std::vector<float> Floats(size_t count, float low = -1, float high = 1) {
    std::vector<float> values(count);
    for (float& value : values) value = Uniform(low, high);
    return values;
  }

  std::mt19937 random_{11};
};

inline std::string IsaName(const testing::TestParamInfo<kernels::Isa>& info) {
  return std::string(kernels::Name(info.param));
}

#define OWML_INSTANTIATE_FOR_EVERY_ISA(suite) \
  INSTANTIATE_TEST_SUITE_P(Isa, suite, testing::ValuesIn(kernels::UsableIsas()), IsaName)

// NaNs count as equal whatever their bits.
inline testing::AssertionResult SameBits(std::span<const float> actual, std::span<const float> expected) {
  if (actual.size() != expected.size()) return testing::AssertionFailure() << "sizes differ";
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i]) && std::isnan(expected[i])) continue;
    if (std::bit_cast<uint32_t>(actual[i]) != std::bit_cast<uint32_t>(expected[i])) {
      return testing::AssertionFailure() << actual[i] << " instead of " << expected[i] << " at " << i;
    }
  }
  return testing::AssertionSuccess();
}

inline constexpr kernels::WeightType kAllWeightTypes[] = {
    kernels::WeightType::kF32,  kernels::WeightType::kF16,    kernels::WeightType::kBF16, kernels::WeightType::kQ8_0,
    kernels::WeightType::kQ4_0, kernels::WeightType::kQ4_1,   kernels::WeightType::kQ5_0, kernels::WeightType::kQ5_1,
    kernels::WeightType::kQ2_K, kernels::WeightType::kQ3_K,   kernels::WeightType::kQ4_K, kernels::WeightType::kQ5_K,
    kernels::WeightType::kQ6_K, kernels::WeightType::kIQ4_NL, kernels::WeightType::kMXFP4};
static_assert(std::size(kAllWeightTypes) == kernels::kWeightTypes);

// The next whole number of blocks.
inline size_t WholeBlocks(kernels::WeightType type, size_t columns) {
  const size_t values = kernels::BlockValues(type);
  return (columns + values - 1) / values * values;
}

// A row-major matrix in the form of a file.
inline std::vector<std::byte> RandomMatrix(kernels::WeightType type, size_t rows, size_t columns,
                                           std::mt19937& random) {
  using kernels::WeightType;
  std::vector<std::byte> bytes(rows * kernels::RowBytes(type, columns));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 13);
  const auto uniform = [&random] { return static_cast<float>(random() >> 8) / 16777216.0f - 0.5f; };
  const float size = kernels::BlockValues(type) > kernels::kBlock ? 0.02f : 1.0f;  // K types multiply twice
  for (size_t at = 0; at < bytes.size(); at += kernels::BlockBytes(type)) {
    const float value = uniform();
    if (type == WeightType::kF32) std::memcpy(bytes.data() + at, &value, sizeof(value));
    if (type == WeightType::kBF16) std::memcpy(bytes.data() + at, reinterpret_cast<const char*>(&value) + 2, 2);
    for (const size_t place : ScalePlaces(type)) SetScale(type, bytes.data() + at, place, size * uniform());
  }
  return bytes;
}

inline std::vector<std::byte> Packed(kernels::WeightType type, const std::vector<std::byte>& matrix, size_t rows,
                                     size_t columns) {
  const size_t panel_bytes = kernels::PanelBytes(type, columns);
  std::vector<std::byte> panels(kernels::PanelCount(rows) * panel_bytes);
  for (size_t p = 0; p < kernels::PanelCount(rows); ++p) {
    EXPECT_TRUE(kernels::PackPanel(type, matrix.data(), rows, columns, p, panels.data() + p * panel_bytes));
  }
  return panels;
}

}  // namespace owml::test
