// Panels and heads lie on the node of the thread that reads them, on a machine of two nodes.
#include "backend/native/memory_placement.h"

#include <gmock/gmock.h>

#include "backend/native/architectures/architectures.h"
#include "backend/native/device/cpu_device.h"
#include "backend/native/kv_cache.h"
#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"

namespace owml::test {
namespace {

using native::PagePlan;

constexpr uint32_t kNone = UINT32_MAX;

// Eight threads, of which 0 to 3 are on node 0.
constexpr uint64_t kThreads = 8;
uint32_t NodeOfThread(uint64_t thread) { return thread < 4 ? 0 : 1; }

native::NodeShares TwoNodes() {
  std::vector<native::Processor> processors;
  for (uint32_t i = 0; i < kThreads; ++i) processors.push_back({i, i, NodeOfThread(i)});
  return native::NodeShares(processors);
}

// kNone where the bytes lie on several nodes, or on none.
uint32_t NodeOf(const std::vector<PagePlan::Stretch>& runs, const std::byte* begin, size_t bytes) {
  for (const PagePlan::Stretch& run : runs) {
    if (run.begin <= begin && begin + bytes <= run.begin + run.bytes) return run.node;
  }
  return kNone;
}

TEST(MemoryPlacementTest, EveryPanelLiesOnTheNodeOfTheThreadThatMultipliesIt) {
  TemporaryFolder folder;
  const auto path = folder.Write("random.gguf", RandomLlama(GgmlType::kQ4_0));
  auto files = std::make_shared<const GgufModelFiles>(OpenGgufModel(path));
  const std::shared_ptr<const std::vector<GgufFile>> list(files, &files->files);
  const native::ModelPlan model = native::PlanOf(list->front());
  const native::ModelWeights weights(list, nullptr, model, native::FindTensors(*list, model));
  const auto runs = native::PlaceWeights(weights, TwoNodes()).Runs(1);

  // One job after the other; thread t of n does the panels from count * t / n to before count * (t + 1) / n.
  const auto expect_job = [&](const std::vector<const native::PackedMatrix*>& matrices, const std::string& label) {
    std::vector<std::pair<const std::byte*, size_t>> panels;
    for (const native::PackedMatrix* matrix : matrices) {
      for (size_t i = 0; i < kernels::PanelCount(matrix->rows); ++i) {
        panels.emplace_back(matrix->panel(i), matrix->panel_bytes());
      }
    }
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      for (uint64_t i = panels.size() * thread / kThreads; i < panels.size() * (thread + 1) / kThreads; ++i) {
        // A panel in the middle of an odd number belongs to both halves.
        if (2 * i + 1 == panels.size()) continue;
        EXPECT_EQ(NodeOf(runs, panels[i].first, panels[i].second), NodeOfThread(thread)) << label << ", panel " << i;
      }
    }
  };
  for (const native::ModelWeights::Layer& layer : weights.layers()) {
    expect_job({&layer.query, &layer.key, &layer.value}, "queries, keys and values");
    expect_job({&layer.output}, "attention output");
    expect_job({&layer.gate}, "gate");
    expect_job({&layer.up}, "up");
    expect_job({&layer.down}, "down");
  }
  expect_job({&weights.head()}, "head");
}

TEST(MemoryPlacementTest, HeadsOfTheCacheLieOnTheNodeOfTheThreadThatAttendsToThem) {
  native::CpuDevice device(1, kernels::KernelsFor(kernels::Isa::kScalar));
  const native::KvCache cache({.slots = 2, .kv_heads = 4, .head_width = 64, .capacity = 64, .windows = {0, 0}},
                              &device);
  for (const native::CacheLayer& layer : cache.layers()) {
    const auto runs = native::PlaceHeads(layer, TwoNodes()).Runs(1);
    for (const uint32_t slot : {0, 1}) {
      for (uint32_t head = 0; head < 4; ++head) {
        constexpr size_t kBytes = 64 * 64 * 2;  // of the floats of 16 bits of a head
        for (const native::Tensor* tensor : {&layer.keys, &layer.values}) {
          const auto* begin = reinterpret_cast<const std::byte*>(tensor->at(slot, head));
          EXPECT_EQ(NodeOf(runs, begin, kBytes), NodeOfThread(head * kThreads / 4)) << "slot " << slot << ", " << head;
        }
      }
    }
  }
}

}  // namespace
}  // namespace owml::test
