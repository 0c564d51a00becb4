// Lifetimes go from the first job that touches a buffer to the last. A buffer is placed where another of its size was
// that is not needed meanwhile, else behind all others: rows of one length, divided among threads in one way, so that a
// thread finds in its own cache what it wrote there, and nobody else's. Attention divides by heads; its buffers share
// places among themselves.
#include "backend/native/graph/buffer_plan.h"

#include <algorithm>

#include "base/error.h"

namespace owml::native {
namespace {

struct Life {
  uint32_t buffer = 0;
  uint64_t bytes = 0;
  size_t first = SIZE_MAX, last = 0;  // jobs
  bool by_heads = false;              // attention touches it
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
        life.by_heads |= std::holds_alternative<Attend>(operation);
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
  std::stable_sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.first < b.first; });
  return lives;
}

// Where buffers of one kind lie one after the other.
struct Place {
  uint64_t offset;
  Life latest;

  bool Takes(const Life& life) const {
    return latest.bytes == life.bytes && latest.by_heads == life.by_heads && latest.last < life.first;
  }
};

}  // namespace

BufferPlan PlanBuffers(const Graph& graph, std::vector<Job>& jobs) {
  BufferPlan plan;
  plan.offsets.assign(graph.buffers().size(), BufferPlan::kNowhere);
  std::vector<Place> places;
  for (const Life& life : LivesOf(graph, jobs)) {
    if (life.bytes > INT64_MAX - plan.unshared_bytes) {
      throw Error(E_OUTOFMEMORY, "the work buffers of a batch are larger than addresses can count");
    }
    plan.unshared_bytes += life.bytes;
    auto place = std::find_if(places.begin(), places.end(), [&](const Place& one) { return one.Takes(life); });
    if (place == places.end()) {
      place = places.insert(place, {plan.bytes, life});
      plan.bytes += life.bytes;
    }
    place->latest = life;
    plan.offsets[life.buffer] = place->offset;
  }
  return plan;
}

}  // namespace owml::native
