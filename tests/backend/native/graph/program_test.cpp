// Graphs that run: against plain loops, over threads, for some of the rows, and with their times taken.
#include "backend/native/graph/program.h"

#include <gmock/gmock.h>

#include <cmath>

#include "backend/native/graph/graph_fixture.h"

namespace owml::native {
namespace {

using kernels::WeightType;

constexpr uint64_t kWidth = 64, kOutputs = 40, kTokens = 5;

// Norm(E[t]) W, for each token.
class ProgramTest : public testing::Test {
 protected:
  Graph Recorded(bool take_rows) const {
    Graph graph(16, 16);
    graph.BeginLayer(0);
    Tensor x = graph.Embed(WeightType::kF32, table_.address(), kWidth, 3);
    if (take_rows) x = graph.TakeRows(x);
    graph.BeginLayer(1);
    graph.Head(graph.RmsNorm(x, weight_.address(), 1e-5f), head_.matrix(), 0, 1, 0, 1);
    return graph;
  }

  std::vector<double> Expected(int32_t token) const {
    std::vector<double> x(kWidth), out(kOutputs);
    double squares = 0;
    for (uint64_t i = 0; i < kWidth; ++i) {
      x[i] = 3.0 * static_cast<double>(table_.values[static_cast<size_t>(token) * kWidth + i]);
      squares += x[i] * x[i];
    }
    for (uint64_t i = 0; i < kWidth; ++i) {
      x[i] *= static_cast<double>(weight_.values[i]) / std::sqrt(squares / kWidth + 1e-5);
      for (uint64_t row = 0; row < kOutputs; ++row) out[row] += x[i] * static_cast<double>(head_.at(row, i));
    }
    return out;
  }

  const TestTable table_{kTokens, kWidth, 1};
  const TestTable weight_{1, kWidth, 2};
  const TestMatrix head_{kOutputs, kWidth, 3};
};

TEST_F(ProgramTest, GivesWhatTheFormulaGives) {
  Runner runner(Recorded(false));
  const std::vector<int32_t> tokens{4, 0, 2};
  const std::vector<float> out = runner.Run(tokens, kOutputs);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::vector<double> expected = Expected(tokens[i]);
    for (uint64_t row = 0; row < kOutputs; ++row) {
      EXPECT_NEAR(static_cast<double>(out[i * kOutputs + row]), expected[row], 1e-5);
    }
  }
}

TEST_F(ProgramTest, ThreadsInstructionSetsAndNumbersOfTokensChangeNoBit) {
  Runner one(Recorded(false), 1);
  const std::vector<int32_t> tokens{1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 4};
  const std::vector<float> all = one.Run(tokens, kOutputs);
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    for (const uint32_t threads : {1, 2, 3}) {
      Runner runner(Recorded(false), threads, isa);
      EXPECT_EQ(runner.Run(tokens, kOutputs), all);
      for (size_t i = 0; i < tokens.size(); ++i) {
        EXPECT_THAT(runner.Run({tokens[i]}, kOutputs),
                    testing::ElementsAreArray(all.data() + i * kOutputs, static_cast<size_t>(kOutputs)));
      }
    }
  }
}

TEST_F(ProgramTest, OnlyRowsThatAreReadAreComputedToTheEnd) {
  Runner all(Recorded(false)), some(Recorded(true));
  const std::vector<int32_t> tokens{1, 2, 3, 4, 0};
  const std::vector<float> expected = all.Run(tokens, kOutputs), out = some.Run(tokens, kOutputs, {0, 3});
  ASSERT_EQ(out.size(), 2 * kOutputs);
  for (uint64_t i = 0; i < kOutputs; ++i) {
    EXPECT_EQ(out[i], expected[i]);
    EXPECT_EQ(out[kOutputs + i], expected[3 * kOutputs + i]);
  }
}

// (SiLU(x Wg + b) * (x Wu)) W, with the gate fused, and with a step between that forbids it and changes nothing.
TEST_F(ProgramTest, FusedGatesGiveTheBitsOfTheirSteps) {
  for (const WeightType type : {WeightType::kF32, WeightType::kQ8_0}) {
    const TestMatrix gate(96, kWidth, 5, type), up(96, kWidth, 6, type), down(kOutputs, 96, 7, type);
    const TestTable bias(1, 96, 8);
    const auto recorded = [&](bool fused) {
      Graph graph(16, 16);
      const Tensor x = graph.Embed(WeightType::kF32, table_.address(), kWidth, 1);
      const Tensor g = graph.MatMul("gate", x, gate.matrix());
      graph.AddVector(g, bias.address());
      if (!fused) graph.Scale(g, 1);
      const Tensor u = graph.MatMul("up", x, up.matrix());
      graph.Activate("activation", g, u, Activation::kSilu);
      graph.Head(g, down.matrix(), 0, 1, 0, 1);
      return graph;
    };
    Runner fused(recorded(true)), steps(recorded(false));
    EXPECT_TRUE(std::holds_alternative<GateUp>(fused.program().jobs()[1].operations[0]));
    EXPECT_EQ(NamesOf(steps.program().jobs())[2].find("bias + scale + activation"), 0u);
    EXPECT_EQ(fused.Run({0, 3, 1}, kOutputs), steps.Run({0, 3, 1}, kOutputs));
  }
}

TEST_F(ProgramTest, ACheckEndsItBeforeALayer) {
  struct AtSecond final : CancellationCheck {
    bool canceled() noexcept override { return ++asked == 2; }
    int asked = 0;
  } check;
  Runner runner(Recorded(false));
  runner.Run({1}, kOutputs, {}, &check);
  EXPECT_FALSE(runner.finished());
  EXPECT_EQ(check.asked, 2);
  runner.Run({1}, kOutputs, {}, &check);
  EXPECT_TRUE(runner.finished());
}

TEST_F(ProgramTest, AProfileCountsCallsTimeAndWork) {
  Runner runner(Recorded(false), 3);
  runner.Run({1, 2}, kOutputs);  // before the start
  runner.profile().Start();
  runner.Run({1, 2, 3, 4}, kOutputs);
  runner.Run({1}, kOutputs);
  runner.profile().Stop();
  runner.Run({1, 2}, kOutputs);

  const auto& operations = runner.profile().operations();
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].name, "embed + norm");
  EXPECT_EQ(operations[1].name, "head");
  for (const ProfiledOperation& operation : operations) {
    EXPECT_EQ(operation.calls, 2u);
    EXPECT_GT(operation.nanoseconds, 0u);
  }
  EXPECT_EQ(operations[0].arithmetic, 0u);
  EXPECT_EQ(operations[1].arithmetic, 2 * kWidth * kOutputs * 5);
  EXPECT_EQ(operations[1].bytes, 2 * 3 * 16 * kWidth * sizeof(float));  // three panels of 16 rows, twice

  uint64_t whole = 0;
  for (const ProfiledSpan& span : runner.profile().spans()) {
    if (span.lane == 0) whole += span.duration;
    EXPECT_LE(span.lane, 3u);
    EXPECT_EQ(span.layer, span.operation);
  }
  EXPECT_EQ(whole, operations[0].nanoseconds + operations[1].nanoseconds);
  EXPECT_EQ(runner.profile().lost_spans(), 0u);

  runner.profile().Start();
  EXPECT_TRUE(runner.profile().spans().empty());
  EXPECT_EQ(operations[1].calls, 0u);
}

TEST_F(ProgramTest, AProfileChangesNoBit) {
  Runner runner(Recorded(false), 2);
  const std::vector<float> without = runner.Run({3, 1, 4}, kOutputs);
  runner.profile().Start();
  EXPECT_EQ(runner.Run({3, 1, 4}, kOutputs), without);
}

}  // namespace
}  // namespace owml::native
