// Lifetimes go from the first job that touches a buffer to the last. Large buffers are placed first, each at the lowest
// place that is free as long as it lives.
#include "backend/native/graph/buffer_plan.h"

#include <algorithm>

#include "base/error.h"

namespace owml::native {
namespace {

struct Life {
  uint32_t buffer = 0;
  uint64_t bytes = 0;
  size_t first = SIZE_MAX, last = 0;  // jobs

  bool Meets(const Life& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Life> LivesOf(const Graph& graph, std::vector<Job>& jobs) {
  std::vector<Life> all(graph.buffers().size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (Operation& operation : jobs[i].operations) {
      ForEachTensor(operation, [&](Tensor& tensor, Access) {
        if (!IsUnplaced(tensor.address())) return;
        Life& life = all[BufferOf(tensor.address())];
        life.first = std::min(life.first, i);
        life.last = i;
      });
    }
  }
  std::vector<Life> lives;
  for (uint32_t buffer = 0; buffer < all.size(); ++buffer) {
    if (all[buffer].first == SIZE_MAX) continue;
    all[buffer].buffer = buffer;
    all[buffer].bytes =
        (graph.buffers()[buffer].bytes + BufferPlan::kAlignment - 1) / BufferPlan::kAlignment * BufferPlan::kAlignment;
    lives.push_back(all[buffer]);
  }
  std::stable_sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.bytes > b.bytes; });
  return lives;
}

}  // namespace

BufferPlan PlanBuffers(const Graph& graph, std::vector<Job>& jobs) {
  BufferPlan plan;
  plan.offsets.assign(graph.buffers().size(), BufferPlan::kNowhere);
  std::vector<Life> placed;
  for (const Life& life : LivesOf(graph, jobs)) {
    // Those that live at the same time, by their places.
    std::vector<std::pair<uint64_t, uint64_t>> taken;  // from, to
    for (const Life& other : placed) {
      if (life.Meets(other)) taken.emplace_back(plan.offsets[other.buffer], plan.offsets[other.buffer] + other.bytes);
    }
    std::sort(taken.begin(), taken.end());
    uint64_t at = 0;
    for (const auto& [from, to] : taken) {
      if (from >= at && from - at >= life.bytes) break;
      at = std::max(at, to);
    }
    if (life.bytes > INT64_MAX - plan.unshared_bytes) {
      throw Error(E_OUTOFMEMORY, "the work buffers of a batch are larger than addresses can count");
    }
    plan.offsets[life.buffer] = at;
    plan.bytes = std::max(plan.bytes, at + life.bytes);
    plan.unshared_bytes += life.bytes;
    placed.push_back(life);
  }
  return plan;
}

}  // namespace owml::native
