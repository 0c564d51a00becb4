// Products of packed weights with activations.
#include <cstring>
#include <iterator>
#include <limits>

#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

class MatmulTest : public KernelTest {
 protected:
  struct Problem {
    WeightType type;
    size_t rows, columns, tokens;
    std::vector<std::byte> matrix, panels;
    std::vector<float> x;
    std::vector<Q8Block> q8;
  };

  // Of the next whole number of blocks.
  Problem Make(WeightType type, size_t rows, size_t columns, size_t tokens) {
    columns = WholeBlocks(type, columns);
    Problem problem{type, rows, columns, tokens, RandomMatrix(type, rows, columns, random_), {}, {}, {}};
    problem.panels = Packed(type, problem.matrix, rows, columns);
    problem.x = Floats(tokens * columns);
    Requantize(&problem);
    return problem;
  }

  static void Requantize(Problem* problem) {
    if (!IsQuantized(problem->type)) return;
    problem->q8.resize(problem->x.size() / kBlock);
    oracle().quantize(problem->x.data(), problem->x.size(), problem->q8.data());
  }

  static std::vector<float> Run(const Kernels& kernels, const Problem& problem, size_t first, size_t tokens,
                                std::vector<float> out = {}, bool accumulate = false) {
    out.resize(tokens * problem.rows);
    kernels.Matmul(problem.type)({.panels = problem.panels.data(),
                                  .rows = problem.rows,
                                  .columns = problem.columns,
                                  .q8 = problem.q8.data() + first * (problem.columns / kBlock),
                                  .f32 = problem.x.data() + first * problem.columns,
                                  .tokens = tokens,
                                  .out = out.data(),
                                  .out_stride = problem.rows,
                                  .accumulate = accumulate});
    return out;
  }
  static std::vector<float> Run(const Kernels& kernels, const Problem& problem) {
    return Run(kernels, problem, 0, problem.tokens);
  }
};

std::vector<size_t> Columns(WeightType type) {
  if (BlockValues(type) == 256) return {256, 512, 768};
  if (IsQuantized(type)) return {32, 64, 96, 160};
  return {1, 2, 7, 16, 33, 64};
}

TEST_P(MatmulTest, EqualsItsScalarTwinOverEveryTileEdge) {
  for (const WeightType type : kAllWeightTypes) {
    for (const size_t columns : Columns(type)) {
      for (const size_t rows : {1, 15, 16, 17, 40}) {
        for (const size_t tokens : {1, 2, 3, 4, 5, 7, 8, 9, 15, 17}) {
          const Problem problem = Make(type, rows, columns, tokens);
          ASSERT_TRUE(SameBits(Run(kernels(), problem), Run(oracle(), problem)))
              << "type " << static_cast<int>(type) << ", " << rows << " x " << columns << ", " << tokens << " tokens";
        }
      }
    }
  }
}

// Tiles of tokens, ranges of columns and chunks of tokens end somewhere inside these.
TEST_P(MatmulTest, ManyTokensEqualTheScalarTwin) {
  struct Shape {
    size_t rows, columns, tokens;
  };
  std::vector<Shape> shapes = {{40, 1344, 29}, {16, 2304, 24}, {33, 64, 263}, {31, 96, 520}};
  for (size_t tokens = 24; tokens <= 31; ++tokens) shapes.push_back({17, 64, tokens});
  for (const WeightType type : kAllWeightTypes) {
    for (const Shape& shape : shapes) {
      const Problem problem = Make(type, shape.rows, shape.columns, shape.tokens);
      const auto before = Floats(problem.tokens * problem.rows);
      for (const bool accumulate : {false, true}) {
        ASSERT_TRUE(SameBits(Run(kernels(), problem, 0, problem.tokens, before, accumulate),
                             Run(oracle(), problem, 0, problem.tokens, before, accumulate)))
            << "type " << static_cast<int>(type) << ", " << shape.rows << " x " << problem.columns << ", "
            << shape.tokens << " tokens";
      }
    }
  }
}

TEST_P(MatmulTest, ATokenGetsTheSameBitsAloneAndInCompany) {
  for (const WeightType type : kAllWeightTypes) {
    const Problem problem = Make(type, 48, 96, 43);
    const auto together = Run(kernels(), problem);
    for (size_t token = 0; token < problem.tokens; ++token) {
      ASSERT_TRUE(
          SameBits(Run(kernels(), problem, token, 1), std::span(together).subspan(token * problem.rows, problem.rows)));
    }
  }
}

TEST_P(MatmulTest, IsTheProductUpToTheRoundingOfActivations) {
  for (const WeightType type : kAllWeightTypes) {
    const Problem problem = Make(type, 33, 320, 3);
    const auto out = Run(kernels(), problem);
    std::vector<float> row(problem.columns);
    for (size_t r = 0; r < problem.rows; ++r) {
      DequantizeRow(type, problem.matrix.data() + r * RowBytes(type, problem.columns), problem.columns, row.data());
      for (size_t t = 0; t < problem.tokens; ++t) {
        double sum = 0, size = 0;
        for (size_t k = 0; k < problem.columns; ++k) {
          sum += double{row[k]} * problem.x[t * problem.columns + k];
          size += double{row[k]} * row[k];
        }
        const double rounding = IsQuantized(type) ? 0.012 : type == WeightType::kBF16 ? 0.008 : 1e-6;
        const double tolerance = std::sqrt(size) * rounding;
        ASSERT_NEAR(out[t * problem.rows + r], sum, tolerance) << "type " << static_cast<int>(type);
      }
    }
  }
}

TEST_P(MatmulTest, AddsToWhatIsThereWhenAsked) {
  for (const WeightType type : kAllWeightTypes) {
    const Problem problem = Make(type, 21, 64, 3);
    const auto before = Floats(problem.tokens * problem.rows);
    const auto product = Run(kernels(), problem);
    std::vector<float> expected(before.size());
    for (size_t i = 0; i < before.size(); ++i) expected[i] = before[i] + product[i];
    EXPECT_TRUE(SameBits(Run(kernels(), problem, 0, problem.tokens, before, true), expected));
  }
}

TEST_P(MatmulTest, TheLargestBytesDoNotOverflow) {
  for (const WeightType type : kAllWeightTypes) {
    if (!IsQuantized(type)) continue;
    for (const uint8_t byte : {0x00, 0x7F, 0x80, 0x81, 0xFF}) {
      for (const float sign : {-1.0f, 1.0f}) {
        Problem problem = Make(type, 16, 64, 33);
        for (std::byte& at : problem.matrix) at = static_cast<std::byte>(byte);
        for (size_t at = 0; at < problem.matrix.size(); at += BlockBytes(type)) {
          for (const size_t place : ScalePlaces(type)) SetScale(type, problem.matrix.data() + at, place, 1.0f);
        }
        problem.panels = Packed(type, problem.matrix, problem.rows, problem.columns);
        for (float& value : problem.x) value = sign;
        Requantize(&problem);
        ASSERT_TRUE(SameBits(Run(kernels(), problem), Run(oracle(), problem))) << static_cast<int>(type);
        std::vector<float> row(problem.columns);
        DequantizeRow(type, problem.matrix.data(), problem.columns, row.data());
        double sum = 0;
        for (const float value : row) sum += double{value} * sign;
        ASSERT_NEAR(Run(kernels(), problem)[0], sum, 1e-5 * (1 + std::abs(sum) * 64)) << static_cast<int>(type);
      }
    }
  }
}

TEST_P(MatmulTest, MisalignedPanelsAndOutputsGiveTheSameBits) {
  for (const WeightType type : kAllWeightTypes) {
    Problem problem = Make(type, 32, 64, 29);
    const auto expected = Run(oracle(), problem);
    std::vector<std::byte> shifted(problem.panels.size() + 1);
    std::memcpy(shifted.data() + 1, problem.panels.data(), problem.panels.size());
    std::vector<float> out(expected.size() + 1);
    kernels().Matmul(type)({.panels = shifted.data() + 1,
                            .rows = problem.rows,
                            .columns = problem.columns,
                            .q8 = problem.q8.data(),
                            .f32 = problem.x.data(),
                            .tokens = problem.tokens,
                            .out = out.data() + 1,
                            .out_stride = problem.rows,
                            .accumulate = false});
    EXPECT_TRUE(SameBits(std::span(out).subspan(1), expected));
  }
}

// Also where the sum of two products is one, and where a width has no partner for its last column.
TEST_P(MatmulTest, BfloatsCountDenormalNumbersAsZero) {
  for (const size_t columns : {2, 7, 2050, 4099}) {
    Problem problem = Make(WeightType::kBF16, 20, columns, 5);
    for (size_t i = 0; i < problem.x.size(); ++i) problem.x[i] *= std::ldexp(1.0f, -static_cast<int>(i * 7 % 149));
    for (size_t i = 1; i < problem.matrix.size(); i += 2) {
      problem.matrix[i] &= std::byte{static_cast<uint8_t>(i % 3 == 0 ? 0x80 : 0x9F)};  // small exponents
    }
    problem.panels = Packed(WeightType::kBF16, problem.matrix, problem.rows, problem.columns);
    EXPECT_TRUE(SameBits(Run(kernels(), problem), Run(oracle(), problem))) << columns;
  }
}

// Activations are rounded many at a time, and the last of a row one by one.
TEST_P(MatmulTest, BfloatsRoundActivationsAlikeWhateverTheyAre) {
  constexpr size_t kTokens = 9;
  for (const size_t columns : {16, 32, 70, 101}) {
    Problem problem = Make(WeightType::kBF16, 20, columns, kTokens);
    const uint32_t ones[] = {0x007FFFFF, 0x807FFFFF, 0x00800000, 0x3F808000, 0x3F818000, 0xBF7FFFFF, 0x477F7FFF};
    for (size_t i = 0; i < problem.x.size(); ++i) {
      if (i % 3 == 0) std::memcpy(&problem.x[i], &ones[i / 3 % std::size(ones)], sizeof(float));
    }
    // A row each that holds something else; the others must not.
    problem.x[1 * columns + 3] = INFINITY;
    problem.x[2 * columns + columns - 1] = NAN;
    problem.x[3 * columns + 1] = std::numeric_limits<float>::max();  // becomes infinite
    const auto out = Run(kernels(), problem);
    EXPECT_TRUE(SameBits(out, Run(oracle(), problem))) << columns;
    for (size_t t = 4; t < kTokens; ++t) {
      for (size_t r = 0; r < problem.rows; ++r) EXPECT_TRUE(std::isfinite(out[t * problem.rows + r])) << t << ", " << r;
    }
  }
}

TEST_P(MatmulTest, DenormalScalesAndActivationsThatAreNoNumbersAreCarriedThrough) {
  for (const WeightType type : kAllWeightTypes) {
    if (!IsQuantized(type)) continue;
    Problem problem = Make(type, 16, 64, 28);
    for (size_t at = 0; at < problem.matrix.size(); at += BlockBytes(type)) {
      for (const size_t place : ScalePlaces(type)) {
        SetScale(type, problem.matrix.data() + at, place, type == WeightType::kMXFP4 ? 0x1p-127f : 0x1p-24f);
      }
    }
    problem.panels = Packed(type, problem.matrix, problem.rows, problem.columns);
    problem.x[3] = NAN;
    problem.x[problem.columns + 24] = INFINITY;
    for (size_t i = 0; i < problem.columns; ++i) problem.x[2 * problem.columns + i] = 1e-40f;
    Requantize(&problem);
    const auto out = Run(kernels(), problem);
    EXPECT_TRUE(SameBits(out, Run(oracle(), problem))) << static_cast<int>(type);
    for (size_t i = 0; i < 32; ++i) EXPECT_TRUE(std::isnan(out[i]));
    for (size_t i = 32; i < 64; ++i) EXPECT_TRUE(std::isfinite(out[i]));
  }
}

// Damaged files are refused when they are packed; a kernel that met such a scale would not hide it.
TEST_P(MatmulTest, ScalesThatAreNoNumbersGiveWhatTheScalarTwinGives) {
  for (const WeightType type : kAllWeightTypes) {
    if (!IsQuantized(type)) continue;
    for (const uint16_t bad : {0x7E00, 0xFE00, 0x7C00, 0xFC00}) {
      Problem problem = Make(type, 16, 64, 3);
      std::memcpy(problem.panels.data() + 2 * 5, &bad, sizeof(bad));  // the scale of row 5
      const auto out = Run(kernels(), problem);
      EXPECT_TRUE(SameBits(out, Run(oracle(), problem))) << static_cast<int>(type);
      // Read as a bfloat, two of them are numbers.
      EXPECT_TRUE(type == WeightType::kMXFP4 || !std::isfinite(out[5])) << static_cast<int>(type);
      EXPECT_TRUE(std::isfinite(out[4]));
    }
  }
}

OWML_INSTANTIATE_FOR_EVERY_ISA(MatmulTest);

}  // namespace
}  // namespace owml::test
