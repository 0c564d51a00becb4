// What is fused, in which order jobs come, and what is left out.
#include "backend/native/graph/schedule.h"

#include <gmock/gmock.h>

#include "backend/native/graph/graph_fixture.h"

namespace owml::native {
namespace {

using kernels::WeightType;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

constexpr uint64_t kWidth = 64;

class ScheduleTest : public testing::Test {
 protected:
  Tensor Embedded() { return graph_.Embed(WeightType::kF32, table_.address(), kWidth, 1); }
  std::vector<std::string> Names() const { return NamesOf(Schedule(graph_)); }
  std::vector<float> Results(uint64_t width, uint32_t threads = 2) {
    return Runner(graph_, threads).Run({3, 1, 2, 0, 3}, width);
  }

  const TestTable table_{4, kWidth, 1};
  const TestTable vector_{1, kWidth, 2};
  const TestMatrix floats_{kWidth, kWidth, 3}, others_{kWidth, kWidth, 4};
  const TestMatrix bytes_{kWidth, kWidth, 5, WeightType::kQ8_0}, more_bytes_{kWidth, kWidth, 6, WeightType::kQ8_0};
  Graph graph_{8, 8};
};

TEST_F(ScheduleTest, NormAndQuantizationGoThroughRowsTogether) {
  const Tensor h = graph_.RmsNorm(Embedded(), vector_.address(), 1e-5f);
  graph_.Head(h, bytes_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed + norm + quantize", "head"));
}

TEST_F(ScheduleTest, ProductsOfOneInputAreOneJobAndQuantizeItOnce) {
  const Tensor x = Embedded();
  const Tensor q = graph_.MatMul("query", x, bytes_.matrix());
  graph_.Scale(q, 2);
  const Tensor k = graph_.MatMul("key", x, more_bytes_.matrix());
  graph_.AddScaled(q, k, 3);
  graph_.Head(q, floats_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed + quantize", "query + key", "scale + add", "head"));
}

TEST_F(ScheduleTest, AProductOfAnotherIsAJobOfItsOwn) {
  const Tensor first = graph_.MatMul("first", Embedded(), floats_.matrix());
  graph_.Head(first, others_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed", "first", "head"));
}

TEST_F(ScheduleTest, AProductIsAddedToTheStreamWhereItIsComputed) {
  const Tensor x = Embedded();
  const Tensor y = graph_.MatMul("output", graph_.RmsNorm(x, vector_.address(), 1e-5f), floats_.matrix());
  graph_.AddScaled(x, y, 1);
  graph_.Head(x, others_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed + norm", "output + add", "head"));
}

TEST_F(ScheduleTest, ASumWithAFactorOrOfAChangedProductStaysASum) {
  const Tensor x = Embedded();
  const Tensor h = graph_.RmsNorm(x, vector_.address(), 1e-5f);
  graph_.AddScaled(x, graph_.MatMul("scaled", h, floats_.matrix()), 0.5f);
  const Tensor changed = graph_.MatMul("changed", h, others_.matrix());
  graph_.AddVector(changed, vector_.address());
  graph_.AddScaled(x, changed, 1);
  graph_.Head(x, floats_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed + norm", "scaled + changed", "add + bias", "head"));
}

// y = x W would be another y after x += y'.
TEST_F(ScheduleTest, AProductDoesNotMoveBehindAChangeOfItsInput) {
  const Tensor x = Embedded();
  const Tensor y = graph_.MatMul("early", x, floats_.matrix());
  graph_.Scale(x, 2);
  graph_.AddScaled(x, y, 1);
  graph_.Head(x, others_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed", "early", "scale + add", "head"));
}

TEST_F(ScheduleTest, GateUpActivationAndQuantizationAreOneJob) {
  const Tensor x = Embedded();
  const Tensor gate = graph_.MatMul("gate", x, bytes_.matrix());
  const Tensor up = graph_.MatMul("up", x, floats_.matrix());
  graph_.AddVector(up, vector_.address());
  graph_.Activate("activation", gate, up, Activation::kSilu);
  graph_.Head(gate, more_bytes_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed + quantize", "gate + up", "head"));
  const std::vector<Job> jobs = Schedule(graph_);
  const auto& fused = std::get<GateUp>(jobs[1].operations[0]);
  EXPECT_EQ(fused.out.type(), ElementType::kQ8);
  EXPECT_EQ(fused.up_bias, vector_.address());
  EXPECT_EQ(fused.gate_bias, 0u);
}

TEST_F(ScheduleTest, AGateThatSomebodyElseReadsIsNotHidden) {
  const Tensor x = Embedded();
  const Tensor gate = graph_.MatMul("gate", x, floats_.matrix());
  const Tensor up = graph_.MatMul("up", x, others_.matrix());
  const Tensor copy = graph_.RmsNorm(gate, vector_.address(), 1e-5f);
  graph_.Activate("activation", gate, up, Activation::kGelu);
  graph_.AddScaled(copy, gate, 1);
  graph_.Head(copy, floats_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed", "gate + up", "norm + activation + add", "head"));
}

TEST_F(ScheduleTest, WhatNobodyReadsIsLeftOut) {
  const Tensor x = Embedded();
  const Tensor idle = graph_.MatMul("idle", x, bytes_.matrix());
  graph_.Scale(idle, 2);
  graph_.Head(x, floats_.matrix(), 0, 1, 0, 1);
  EXPECT_THAT(Names(), ElementsAre("embed", "head"));
}

// Recorded between: what depends on a changed tensor may not come before the change, nor after the next one.
TEST_F(ScheduleTest, ReadersSeeATensorAsItWasWhenTheyWereRecorded) {
  const Tensor x = Embedded();
  const Tensor before = graph_.MatMul("before", x, floats_.matrix());
  graph_.Scale(x, 3);
  const Tensor after = graph_.MatMul("after", x, floats_.matrix());
  graph_.AddScaled(after, before, -3);
  graph_.Head(after, others_.matrix(), 0, 1, 0, 1);
  for (const float value : Results(kWidth)) EXPECT_NEAR(value, 0.0f, 1e-4f);
}

TEST_F(ScheduleTest, LayersStandWithTheirJobs) {
  graph_.BeginLayer(0);
  const Tensor y = graph_.MatMul("first", Embedded(), floats_.matrix());
  graph_.BeginLayer(1);
  graph_.Head(y, floats_.matrix(), 0, 1, 0, 1);
  const std::vector<Job> jobs = Schedule(graph_);
  EXPECT_EQ(jobs[1].layer, 0u);
  EXPECT_EQ(jobs[2].layer, 1u);
}

TEST_F(ScheduleTest, AMistakeInARecordingIsFoundWhenItIsMade) {
  const Tensor x = Embedded();
  const TestMatrix other(kWidth, 32, 1);
  EXPECT_THROW(graph_.MatMul("wrong", x, other.matrix()), std::logic_error);
  EXPECT_THROW(graph_.AddScaled(x, graph_.MatMul("narrow", x, TestMatrix(16, kWidth, 1).matrix()), 1),
               std::logic_error);
  EXPECT_THROW(Graph(8, 8).Scale(x, 2), std::logic_error);
}

}  // namespace
}  // namespace owml::native
