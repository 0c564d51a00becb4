// The memory node of every panel of a model and of every head of a cache: that of the thread which reads it, as the CPU
// device divides jobs. Carried out when weights are ready, and when a device prepares for a cache.
#pragma once

#include "backend/native/graph/operation.h"
#include "backend/native/model_weights.h"
#include "backend/native/page_plan.h"
#include "backend/native/thread_placement.h"

namespace owml::native {

PagePlan PlaceWeights(const ModelWeights& weights, const NodeShares& nodes);

// Of a layer, in memory of the process.
PagePlan PlaceHeads(const CacheLayer& cache, const NodeShares& nodes);

}  // namespace owml::native
