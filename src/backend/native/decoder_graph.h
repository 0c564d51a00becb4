// A decoder as a graph: one call for each step of its paper, for every architecture that fits a ModelPlan.
// Called by forward.cpp at Build.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/native/device_weights.h"
#include "backend/native/graph/graph.h"
#include "backend/native/model_plan.h"

namespace owml::native {

struct DecoderMemory {
  const DeviceWeights& weights;
  const std::vector<CacheLayer>& caches;         // by layer
  uint32_t most_best;                            // of the highest logits that are asked for
  const std::vector<DeviceAddress>& rope_steps;  // by ModelPlan::ropes: doubles, radians of each pair for a position
};

// For at most so many tokens. Of tokens that are not read, the last layer computes keys and values only; `all_read`
// promises that there are none.
Graph RecordDecoder(const ModelPlan& plan, const DecoderMemory& memory, uint64_t tokens, bool all_read);

}  // namespace owml::native
