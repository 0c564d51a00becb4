// Qwen 2 and 2.5, whose queries, keys and values have biases, and the dense Qwen 3, which norms every head instead.
// Otherwise the form of Llama, with halves that rotate together.
#include "backend/native/architectures/architectures.h"
#include "backend/native/model_reader.h"

namespace owml::native {

ModelPlan PlanQwen2(ModelReader& read) {
  ModelPlan plan = read.Decoder();
  plan.rope_order = RopeOrder::kHalves;
  return plan;
}

ModelPlan PlanQwen3(ModelReader& read) {
  ModelPlan plan = PlanQwen2(read);
  plan.head_norms = true;
  return plan;
}

}  // namespace owml::native
