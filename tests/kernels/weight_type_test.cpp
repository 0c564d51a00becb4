// Values of weights against ggml, which defines the types.
#include "kernels/weight_type.h"

#include <ggml.h>

#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

ggml_type TypeInGgml(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return GGML_TYPE_F32;
    case WeightType::kF16:
      return GGML_TYPE_F16;
    case WeightType::kBF16:
      return GGML_TYPE_BF16;
    case WeightType::kQ8_0:
      return GGML_TYPE_Q8_0;
    case WeightType::kQ4_0:
      return GGML_TYPE_Q4_0;
    case WeightType::kQ4_1:
      return GGML_TYPE_Q4_1;
    case WeightType::kQ5_0:
      return GGML_TYPE_Q5_0;
    case WeightType::kQ5_1:
      return GGML_TYPE_Q5_1;
    case WeightType::kQ2_K:
      return GGML_TYPE_Q2_K;
    case WeightType::kQ3_K:
      return GGML_TYPE_Q3_K;
    case WeightType::kQ4_K:
      return GGML_TYPE_Q4_K;
    case WeightType::kQ5_K:
      return GGML_TYPE_Q5_K;
    case WeightType::kQ6_K:
      return GGML_TYPE_Q6_K;
    case WeightType::kIQ4_NL:
      return GGML_TYPE_IQ4_NL;
    case WeightType::kMXFP4:
      return GGML_TYPE_MXFP4;
  }
  return GGML_TYPE_COUNT;
}

TEST(WeightTypeTest, SizesOfBlocksAreThoseOfGgml) {
  for (const WeightType type : kAllWeightTypes) {
    EXPECT_EQ(BlockBytes(type), ggml_type_size(TypeInGgml(type))) << static_cast<int>(type);
    EXPECT_EQ(BlockValues(type), static_cast<size_t>(ggml_blck_size(TypeInGgml(type)))) << static_cast<int>(type);
  }
}

TEST(WeightTypeTest, ValuesOfAnyBytesAreThoseOfGgml) {
  std::mt19937 random(9);
  for (const WeightType type : kAllWeightTypes) {
    const auto to_float = ggml_get_type_traits(TypeInGgml(type))->to_float;
    if (!to_float) continue;  // F32
    const size_t columns = WholeBlocks(type, 16 * kMaxBlockValues);
    for (int i = 0; i < 50; ++i) {
      const auto row = RandomMatrix(type, 1, columns, random);
      std::vector<float> actual(columns), expected(columns);
      DequantizeRow(type, row.data(), columns, actual.data());
      to_float(row.data(), expected.data(), static_cast<int64_t>(columns));
      ASSERT_TRUE(SameBits(actual, expected)) << static_cast<int>(type);
    }
  }
}

TEST(WeightTypeTest, EveryPowerOfTwoOfMxfp4IsThatOfGgml) {
  for (int exponent = 0; exponent < 255; ++exponent) {
    std::vector<std::byte> block(BlockBytes(WeightType::kMXFP4), std::byte{0xA3});
    block[0] = static_cast<std::byte>(exponent);
    std::vector<float> actual(kBlock), expected(kBlock);
    DequantizeRow(WeightType::kMXFP4, block.data(), kBlock, actual.data());
    ggml_get_type_traits(GGML_TYPE_MXFP4)->to_float(block.data(), expected.data(), kBlock);
    ASSERT_TRUE(SameBits(actual, expected)) << exponent;
  }
}

}  // namespace
}  // namespace owml::test
