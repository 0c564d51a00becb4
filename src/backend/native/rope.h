// How far positions turn the pairs of a head.
// Computed once for a session by the forward pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/native/model_plan.h"

namespace owml::native {

// Radians of each pair for one position, [rotated / 2]. `factors` divide them, one for each pair or none.
std::vector<double> RopeSteps(const ModelPlan& plan, const RopePlan& rope, std::span<const float> factors);

}  // namespace owml::native
