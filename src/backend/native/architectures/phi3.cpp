// Phi 3: the form of Llama with queries, keys and values in one matrix and gate and up in another, and factors for the
// angles of long contexts.
#include "backend/native/architectures/architectures.h"
#include "backend/native/model_reader.h"

namespace owml::native {

ModelPlan PlanPhi3(ModelReader& read) {
  ModelPlan plan = read.Decoder();
  plan.rope_order = RopeOrder::kHalves;
  plan.gate_in_up = true;
  plan.rope_factors = RopeFactors::kShortAndLong;
  const uint32_t window = read.Window();
  for (LayerPlan& layer : plan.layers) layer.window = window;
  return plan;
}

}  // namespace owml::native
