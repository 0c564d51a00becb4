// Places of buffers.
#include "backend/native/graph/buffer_plan.h"

#include <gtest/gtest.h>

#include <map>

#include "backend/native/graph/graph_fixture.h"
#include "backend/native/graph/schedule.h"

namespace owml::native {
namespace {

// A chain of `layers` residual steps.
Graph Chain(const TestTable& table, const TestMatrix& matrix, uint32_t layers) {
  Graph graph(16, 16);
  const Tensor x = graph.Embed(kernels::WeightType::kF32, table.address(), 64, 1);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    graph.BeginLayer(layer);
    const Tensor h = graph.RmsNorm(x, table.address(), 1e-5f);
    const Tensor wide = graph.MatMul("wide", h, matrix.matrix());
    graph.AddScaled(x, wide, 0.5f);
  }
  graph.Head(x, matrix.matrix(), 0, 1, 0, 1);
  return graph;
}

class BufferPlanTest : public testing::Test {
 protected:
  const TestTable table_{4, 64, 1};
  const TestMatrix matrix_{64, 64, 2};
};

TEST_F(BufferPlanTest, BuffersThatLiveAtTheSameTimeLieApart) {
  const Graph graph = Chain(table_, matrix_, 4);
  std::vector<Job> jobs = Schedule(graph);
  const BufferPlan plan = PlanBuffers(graph, jobs);
  struct Life {
    size_t first = SIZE_MAX, last = 0;
  };
  std::map<uint32_t, Life> lives;
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (Operation& operation : jobs[i].operations) {
      ForEachTensor(operation, [&](Tensor& tensor, Access) {
        Life& life = lives[BufferOf(tensor.address())];
        life.first = std::min(life.first, i), life.last = i;
      });
    }
  }
  int pairs = 0;
  for (const auto& [a, life] : lives) {
    for (const auto& [b, other] : lives) {
      if (a >= b) continue;
      if (life.last < other.first || other.last < life.first) continue;
      ++pairs;
      EXPECT_TRUE(plan.offsets[a] + graph.buffers()[a].bytes <= plan.offsets[b] ||
                  plan.offsets[b] + graph.buffers()[b].bytes <= plan.offsets[a])
          << a << " and " << b;
    }
  }
  EXPECT_GT(pairs, 8);
}

TEST_F(BufferPlanTest, LayersUseTheSameMemoryAgain) {
  const auto planned = [&](uint32_t layers) {
    const Graph graph = Chain(table_, matrix_, layers);
    std::vector<Job> jobs = Schedule(graph);
    return PlanBuffers(graph, jobs);
  };
  const BufferPlan few = planned(2), many = planned(20);
  EXPECT_EQ(many.bytes, few.bytes);
  EXPECT_GT(many.unshared_bytes, 5 * many.bytes);
  // The stream, what a layer reads of it, and what it adds: 3 buffers of 16 rows.
  EXPECT_EQ(many.bytes, 3 * 16 * 64 * sizeof(float));
}

// A thread keeps its rows from job to job only where rows of one length follow each other.
TEST_F(BufferPlanTest, APlaceIsSharedByBuffersOfOneSizeOnly) {
  const TestMatrix narrow(32, 64, 3), back(64, 32, 4);
  Graph graph(16, 16);
  const Tensor x = graph.Embed(kernels::WeightType::kF32, table_.address(), 64, 1);
  for (uint32_t layer = 0; layer < 3; ++layer) {
    graph.BeginLayer(layer);
    graph.AddScaled(x, graph.MatMul("back", graph.MatMul("narrow", x, narrow.matrix()), back.matrix()), 0.5f);
  }
  graph.Head(x, matrix_.matrix(), 0, 1, 0, 1);
  std::vector<Job> jobs = Schedule(graph);
  const BufferPlan plan = PlanBuffers(graph, jobs);
  int shared = 0;
  for (uint32_t a = 0; a < graph.buffers().size(); ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      if (plan.offsets[a] == BufferPlan::kNowhere || plan.offsets[b] == BufferPlan::kNowhere) continue;
      const uint64_t end_a = plan.offsets[a] + graph.buffers()[a].bytes;
      const uint64_t end_b = plan.offsets[b] + graph.buffers()[b].bytes;
      if (end_a <= plan.offsets[b] || end_b <= plan.offsets[a]) continue;
      ++shared;
      EXPECT_EQ(plan.offsets[a], plan.offsets[b]);
      EXPECT_EQ(graph.buffers()[a].bytes, graph.buffers()[b].bytes);
    }
  }
  EXPECT_GT(shared, 2);
}

TEST_F(BufferPlanTest, WhatIsLeftOutHasNoPlace) {
  Graph graph = Chain(table_, matrix_, 1);
  const Tensor idle = graph.Embed(kernels::WeightType::kF32, table_.address(), 64, 1);
  std::vector<Job> jobs = Schedule(graph);
  const BufferPlan plan = PlanBuffers(graph, jobs);
  for (uint32_t i = 0; i < graph.buffers().size(); ++i) {
    EXPECT_EQ(plan.offsets[i] == BufferPlan::kNowhere, i == BufferOf(idle.address()));
  }
}

TEST_F(BufferPlanTest, PlacesAreAligned) {
  Graph graph(3, 3);
  const TestMatrix narrow(20, 64, 3), head(16, 20, 4);
  const Tensor x = graph.Embed(kernels::WeightType::kF32, table_.address(), 64, 1);
  const Tensor y = graph.MatMul("narrow", x, narrow.matrix());  // 240 bytes
  const Tensor z = graph.MatMul("narrow too", x, narrow.matrix());
  graph.AddScaled(y, z, 2);
  graph.Head(y, head.matrix(), 0, 1, 0, 1);
  std::vector<Job> jobs = Schedule(graph);
  for (const uint64_t offset : PlanBuffers(graph, jobs).offsets) {
    EXPECT_TRUE(offset == BufferPlan::kNowhere || offset % BufferPlan::kAlignment == 0);
  }
}

}  // namespace
}  // namespace owml::native
