// Kernels over one row of activations.
#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

class RowKernelsTest : public KernelTest {};

constexpr size_t kLengths[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 576, 577};

TEST_P(RowKernelsTest, NormEqualsItsScalarTwinAndTheFormula) {
  for (const size_t count : kLengths) {
    const auto x = Floats(count + 1), weight = Floats(count, 0.5f, 1.5f);
    std::vector<float> out(count), expected(count);
    kernels().rms_norm(x.data() + 1, weight.data(), count, 1e-5f, out.data());
    oracle().rms_norm(x.data() + 1, weight.data(), count, 1e-5f, expected.data());
    ASSERT_TRUE(SameBits(out, expected)) << count;
    double squares = 0;
    for (size_t i = 1; i <= count; ++i) squares += double{x[i]} * x[i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(count) + 1e-5);
    for (size_t i = 0; i < count; ++i) ASSERT_NEAR(out[i], x[i + 1] * factor * weight[i], 2e-6) << count;
  }
}

TEST_P(RowKernelsTest, QuantizedBlocksEqualTheScalarTwinAndAreWithinHalfAStep) {
  for (const float scale : {1e-3f, 1.0f, 1e20f}) {
    const auto x = Floats(160, -scale, scale);
    std::vector<Q8Block> out(5), expected(5);
    kernels().quantize(x.data(), x.size(), out.data());
    oracle().quantize(x.data(), x.size(), expected.data());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), sizeof(Q8Block) * out.size()), 0);
    for (size_t i = 0; i < x.size(); ++i) {
      const Q8Block& block = out[i / kBlock];
      EXPECT_NEAR(block.scale * block.values[i % kBlock], x[i], block.scale * 0.501f);
    }
    for (const Q8Block& block : out) {
      int sum = 0;
      for (const int8_t value : block.values) sum += value;
      EXPECT_EQ(block.minus_sum, -sum);
      EXPECT_EQ(block.scaled_sum, block.scale * static_cast<float>(sum));
    }
  }
}

TEST_P(RowKernelsTest, BlocksOfZerosDenormalsAndNoNumbersAreDefined) {
  const float cases[] = {0.0f, -0.0f, 1e-45f, 1e-38f, 7e-31f, INFINITY, -INFINITY, NAN, 3.4e38f};
  for (const float value : cases) {
    std::vector<float> x(32);
    x[21] = value;
    Q8Block out, expected;
    kernels().quantize(x.data(), x.size(), &out);
    oracle().quantize(x.data(), x.size(), &expected);
    EXPECT_TRUE(SameBits({&out.scale, 2}, {&expected.scale, 2})) << value;
    EXPECT_EQ(out.minus_sum, expected.minus_sum);
    EXPECT_EQ(std::memcmp(out.values, expected.values, sizeof(out.values)), 0);
    EXPECT_EQ(std::isnan(out.scale), !std::isfinite(value));
    if (std::abs(value) > 1e-29f && std::isfinite(value)) {
      EXPECT_EQ(out.values[21], 127);
    }
  }
}

TEST_P(RowKernelsTest, SiluEqualsItsScalarTwinAndTheFormula) {
  for (const size_t count : kLengths) {
    auto gate = Floats(count, -20, 20);
    const auto up = Floats(count);
    const auto before = gate;
    auto expected = gate;
    kernels().silu_multiply(gate.data(), up.data(), count);
    oracle().silu_multiply(expected.data(), up.data(), count);
    ASSERT_TRUE(SameBits(gate, expected)) << count;
    for (size_t i = 0; i < count; ++i) {
      const double silu = before[i] / (1 + std::exp(-double{before[i]}));
      ASSERT_NEAR(gate[i], silu * up[i], 3e-6 * (1 + std::abs(silu)));
    }
  }
}

TEST_P(RowKernelsTest, SiluOfExtremesIsZeroOrTheInput) {
  std::vector<float> gate = {-1e30f, -200, 200, 1e30f, NAN};
  const std::vector<float> up(5, 1.0f);
  kernels().silu_multiply(gate.data(), up.data(), 4);
  EXPECT_NEAR(gate[0] / 1e30f, 0, 1e-6);
  EXPECT_NEAR(gate[1], 0, 1e-6);
  EXPECT_EQ(gate[2], 200);
  EXPECT_EQ(gate[3], 1e30f);
  kernels().silu_multiply(gate.data() + 4, up.data(), 1);
  EXPECT_TRUE(std::isnan(gate[4]));
}

TEST_P(RowKernelsTest, GeluEqualsItsScalarTwinAndTheFormula) {
  for (const size_t count : kLengths) {
    auto gate = Floats(count, -8, 8);
    const auto up = Floats(count);
    const auto before = gate;
    auto expected = gate;
    kernels().gelu_multiply(gate.data(), up.data(), count);
    oracle().gelu_multiply(expected.data(), up.data(), count);
    ASSERT_TRUE(SameBits(gate, expected)) << count;
    for (size_t i = 0; i < count; ++i) {
      const double g = before[i];
      const double gelu = g / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g)));
      ASSERT_NEAR(gate[i], gelu * up[i], 3e-6 * (1 + std::abs(gelu)));
    }
  }
}

TEST_P(RowKernelsTest, GeluOfExtremesIsZeroOrTheInput) {
  std::vector<float> gate = {-1e30f, -200, 200, 1e30f, 0};
  const std::vector<float> up(5, 1.0f);
  kernels().gelu_multiply(gate.data(), up.data(), 5);
  EXPECT_NEAR(gate[0], 0, 1e-6);
  EXPECT_NEAR(gate[1], 0, 1e-6);
  EXPECT_EQ(gate[2], 200);
  EXPECT_EQ(gate[3], 1e30f);
  EXPECT_EQ(gate[4], 0);
}

TEST_P(RowKernelsTest, SoftCapEqualsItsScalarTwinAndTheFormula) {
  for (const size_t count : kLengths) {
    for (const float cap : {0.5f, 30.0f}) {
      auto x = Floats(count, -100, 100);
      const auto before = x;
      auto expected = x;
      kernels().soft_cap(x.data(), cap, count);
      oracle().soft_cap(expected.data(), cap, count);
      ASSERT_TRUE(SameBits(x, expected)) << count;
      for (size_t i = 0; i < count; ++i) ASSERT_NEAR(x[i], cap * std::tanh(double{before[i]} / cap), 3e-7 * cap);
    }
  }
}

TEST_P(RowKernelsTest, ScaledSumsEqualTheirScalarTwinAndStayWithinTheirLength) {
  for (const size_t count : kLengths) {
    auto x = Floats(count + 1);
    const auto y = Floats(count + 1), before = x;
    auto expected = x;
    kernels().add_scaled(x.data(), y.data(), 0.3f, count);
    oracle().add_scaled(expected.data(), y.data(), 0.3f, count);
    ASSERT_TRUE(SameBits(x, expected)) << count;
    for (size_t i = 0; i < count; ++i) ASSERT_NEAR(x[i], before[i] + 0.3 * y[i], 1e-6);
    EXPECT_EQ(x[count], before[count]);
  }
}

TEST_P(RowKernelsTest, RotationOfHalvesEqualsItsScalarTwinAndTurnsPairs) {
  for (const size_t count : {2, 8, 14, 32, 34, 64, 128}) {
    auto x = Floats(count);
    const auto before = x;
    std::vector<float> cosines(count / 2), sines(count / 2);
    for (size_t i = 0; i < count / 2; ++i) {
      const float angle = Uniform(-3, 3);
      cosines[i] = std::cos(angle);
      sines[i] = std::sin(angle);
    }
    auto expected = x;
    kernels().rotate_halves(x.data(), cosines.data(), sines.data(), count);
    oracle().rotate_halves(expected.data(), cosines.data(), sines.data(), count);
    ASSERT_TRUE(SameBits(x, expected)) << count;
    for (size_t i = 0; i < count / 2; ++i) {
      const double a = before[i], b = before[count / 2 + i];
      ASSERT_NEAR(x[i], a * cosines[i] - b * sines[i], 1e-6);
      ASSERT_NEAR(x[count / 2 + i], a * sines[i] + b * cosines[i], 1e-6);
    }
  }
}

TEST_P(RowKernelsTest, RotationEqualsItsScalarTwinAndTurnsPairs) {
  for (const size_t count : {2, 8, 14, 16, 18, 64, 128}) {
    auto x = Floats(count);
    std::vector<float> cosines(count), sines(count);
    for (size_t i = 0; i < count; i += 2) {
      const float angle = Uniform(-3, 3);
      cosines[i] = cosines[i + 1] = std::cos(angle);
      sines[i] = -std::sin(angle);
      sines[i + 1] = std::sin(angle);
    }
    const auto before = x;
    auto expected = x;
    kernels().rotate_pairs(x.data(), cosines.data(), sines.data(), count);
    oracle().rotate_pairs(expected.data(), cosines.data(), sines.data(), count);
    ASSERT_TRUE(SameBits(x, expected)) << count;
    for (size_t i = 0; i < count; i += 2) {
      ASSERT_NEAR(x[i], before[i] * cosines[i] - before[i + 1] * sines[i + 1], 1e-6);
      ASSERT_NEAR(x[i + 1], before[i] * sines[i + 1] + before[i + 1] * cosines[i], 1e-6);
    }
  }
}

TEST_P(RowKernelsTest, ScalingTouchesOnlyItsRow) {
  for (const size_t count : kLengths) {
    auto x = Floats(count + 1);
    const auto before = x;
    kernels().scale(x.data(), 0.125f, count);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(x[i], before[i] * 0.125f);
    ASSERT_EQ(x[count], before[count]);
  }
}

TEST_P(RowKernelsTest, ProbesSeeEveryByteAndDoEveryRound) {
  std::vector<std::byte> memory(4096, std::byte{0});
  EXPECT_EQ(kernels().probe_read(memory.data(), memory.size()), 0u);
  for (const size_t at : {0, 255, 256, 2000, 4095}) {
    memory[at] = std::byte{5};
    EXPECT_EQ(kernels().probe_read(memory.data(), memory.size()), 5u);
    memory[at] = std::byte{0};
  }
  std::fill(memory.begin(), memory.end(), std::byte{2});
  // 64 products of 2 by 2 in each of 16 sums.
  const uint64_t once = kernels().probe_multiply(memory.data(), 1);
  EXPECT_EQ(kernels().probe_multiply(memory.data(), 11) - once, 10u * 16 * 64 * 4);
}

OWML_INSTANTIATE_FOR_EVERY_ISA(RowKernelsTest);

}  // namespace
}  // namespace owml::test
