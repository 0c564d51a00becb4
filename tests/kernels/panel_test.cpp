// Packing: every weight keeps its value, and numbers that are none are found.
#include "kernels/panel.h"

#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

// Reads weight by weight through the scalar product with unit vectors.
std::vector<float> ThroughProducts(WeightType type, const std::vector<std::byte>& panels, size_t rows, size_t columns) {
  std::vector<float> result(rows * columns), out(rows);
  for (size_t column = 0; column < columns; ++column) {
    std::vector<float> x(columns);
    x[column] = 1;
    std::vector<Q8Block> q8(columns / kBlock);
    if (IsQuantized(type)) KernelsFor(Isa::kScalar).quantize(x.data(), columns, q8.data());
    KernelsFor(Isa::kScalar)
        .Matmul(type)({.panels = panels.data(),
                       .rows = rows,
                       .columns = columns,
                       .q8 = q8.data(),
                       .f32 = x.data(),
                       .tokens = 1,
                       .out = out.data(),
                       .out_stride = rows,
                       .accumulate = false});
    for (size_t row = 0; row < rows; ++row) result[row * columns + column] = out[row];
  }
  return result;
}

TEST(PanelTest, PackedWeightsHaveTheValuesOfTheFile) {
  std::mt19937 random(5);
  for (const WeightType type : kAllWeightTypes) {
    const size_t rows = 19, columns = WholeBlocks(type, 64);
    const auto matrix = RandomMatrix(type, rows, columns, random);
    const auto actual = ThroughProducts(type, Packed(type, matrix, rows, columns), rows, columns);
    std::vector<float> expected(columns);
    for (size_t row = 0; row < rows; ++row) {
      DequantizeRow(type, matrix.data() + row * RowBytes(type, columns), columns, expected.data());
      for (size_t column = 0; column < columns; ++column) {
        ASSERT_NEAR(actual[row * columns + column], expected[column], 2e-6f * (1 + std::abs(expected[column])))
            << "type " << static_cast<int>(type) << " row " << row << " column " << column;
      }
    }
  }
}

// Scales of six bits become bytes, powers of two halves of a float.
TEST(PanelTest, PackingTakesTheBytesOfTheFileButForUnpackedScales) {
  for (const WeightType type : kAllWeightTypes) {
    size_t more = 0;
    if (type == WeightType::kQ3_K || type == WeightType::kQ4_K || type == WeightType::kQ5_K) more = 4;
    if (type == WeightType::kMXFP4) more = 1;
    const size_t columns = 3 * kMaxBlockValues, blocks = columns / BlockValues(type);
    EXPECT_EQ(PanelBytes(type, columns), 16 * (RowBytes(type, columns) + blocks * more)) << static_cast<int>(type);
  }
}

TEST(PanelTest, NotANumberAndInfinityAreFoundWhereverTheyAre) {
  std::mt19937 random(5);
  const uint16_t bad_halves[] = {0x7C00, 0xFC00, 0x7E00, 0x7C01};
  const uint16_t bad_bfloats[] = {0x7F80, 0xFF80, 0x7FC0, 0x7F81};
  for (const WeightType type : kAllWeightTypes) {
    const bool bfloat = type == WeightType::kBF16 || type == WeightType::kF32;
    std::vector<size_t> places = ScalePlaces(type);
    if (bfloat) places = {type == WeightType::kF32 ? size_t{2} : size_t{0}};
    const size_t rows = 17, columns = WholeBlocks(type, 32);
    for (const size_t place : places) {
      for (size_t i = 0; i < 4; ++i) {
        auto matrix = RandomMatrix(type, rows, columns, random);
        std::byte* at = matrix.data() + 16 * RowBytes(type, columns) + place;
        std::memcpy(at, bfloat ? &bad_bfloats[i] : &bad_halves[i], 2);
        if (type == WeightType::kMXFP4) *at = std::byte{255};
        std::vector<std::byte> panel(PanelBytes(type, columns));
        EXPECT_TRUE(PackPanel(type, matrix.data(), rows, columns, 0, panel.data()));
        EXPECT_FALSE(PackPanel(type, matrix.data(), rows, columns, 1, panel.data())) << static_cast<int>(type);
      }
    }
  }
}

}  // namespace
}  // namespace owml::test
