// The jobs of products: queries, keys and values in one, gate and up side by side, the others alone.
// Their rows are divided in the order of the products, and attention by KV heads.
#include "backend/native/memory_placement.h"

#include <algorithm>
#include <initializer_list>

#include "backend/native/device/cpu_address.h"

namespace owml::native {
namespace {

// The panels of the matrices of one job, of which each is behind the one before.
void AddJob(std::initializer_list<const PackedMatrix*> matrices, const NodeShares& nodes, PagePlan* plan) {
  uint64_t panels = 0, before = 0;
  for (const PackedMatrix* matrix : matrices) panels += kernels::PanelCount(matrix->rows);
  for (const PackedMatrix* matrix : matrices) {
    const uint64_t count = kernels::PanelCount(matrix->rows);
    for (uint64_t begin = 0; begin < count;) {
      const uint32_t node = nodes.NodeOf(before + begin, panels);
      uint64_t end = begin + 1;
      while (end < count && nodes.NodeOf(before + end, panels) == node) ++end;
      plan->Add(matrix->panel(begin), (end - begin) * matrix->panel_bytes(), node);
      begin = end;
    }
    before += count;
  }
}

}  // namespace

PagePlan PlaceWeights(const ModelWeights& weights, const NodeShares& nodes) {
  PagePlan plan;
  for (const ModelWeights::Layer& layer : weights.layers()) {
    AddJob({&layer.query, &layer.key, &layer.value}, nodes, &plan);
    for (const PackedMatrix* matrix : {&layer.output, &layer.gate, &layer.up, &layer.down}) {
      AddJob({matrix}, nodes, &plan);
    }
  }
  AddJob({&weights.head()}, nodes, &plan);
  return plan;
}

PagePlan PlaceHeads(const CacheLayer& cache, const NodeShares& nodes) {
  PagePlan plan;
  for (const Tensor* all : {&cache.keys, &cache.values}) {  // [slots, heads, segments, bytes]
    for (uint64_t slot = 0; slot < all->extent(0); ++slot) {
      for (uint64_t head = 0; head < all->extent(1); ++head) {
        for (uint64_t segment = 0; segment < all->extent(2); ++segment) {
          plan.Add(Pointer<const std::byte>(all->at(slot, head) + segment * all->stride(2)), all->extent(3),
                   nodes.NodeOf(head, all->extent(1)));
        }
      }
    }
  }
  return plan;
}

}  // namespace owml::native
