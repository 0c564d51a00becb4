// Angles of rotary embeddings and their stretching for long contexts.
// YaRN: "YaRN: Efficient Context Window Extension of Large Language Models", section 3.
#include "backend/native/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace owml::native {
namespace {

// The pair, not whole, that turns `turns` times within the original context.
double PairThatTurns(const ModelPlan& plan, const RopePlan& rope, double turns) {
  return plan.rotated * std::log(static_cast<double>(plan.original_context) / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rope.base));
}

// The share of a pair's angle that is not stretched: 1 for fast pairs, 0 for slow ones, a ramp between.
double Kept(double pair, double first, double last) {
  return 1 - std::clamp((pair - first) / std::max(0.001, last - first), 0.0, 1.0);
}

}  // namespace

std::vector<double> RopeSteps(const ModelPlan& plan, const RopePlan& rope, std::span<const float> factors) {
  std::vector<double> steps(plan.rotated / 2);
  double first = 0, last = 0;
  if (rope.yarn) {
    first = std::max(0.0, std::floor(PairThatTurns(plan, rope, rope.yarn_fast)));
    last = std::min(plan.rotated - 1.0, std::ceil(PairThatTurns(plan, rope, rope.yarn_slow)));
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto pair = static_cast<double>(i);
    const double plain =
        std::pow(rope.base, -2 * pair / plan.rotated) / (factors.empty() ? 1.0 : static_cast<double>(factors[i]));
    const double kept = rope.yarn ? Kept(pair, first, last) : 0;
    steps[i] = plain / rope.divisor * (1 - kept) + plain * kept;
  }
  return steps;
}

}  // namespace owml::native
