// Granite: the form of Llama with four multipliers, and models that leave positions to the causal mask.
//   x += r Attention(Norm(x)) Wo;  x += r (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd;  logits = Norm(x) We / s
#include "backend/native/architectures/architectures.h"
#include "backend/native/model_reader.h"

namespace owml::native {

ModelPlan PlanGranite(ModelReader& read) {
  ModelPlan plan = read.Decoder();
  plan.rope_factors = RopeFactors::kFrequencies;
  plan.embedding_scale = read.Factor("embedding_scale", 1);
  plan.residual_scale = read.Factor("residual_scale", 1);
  plan.query_scale = read.Factor("attention.scale", plan.query_scale);
  plan.logit_scale = 1 / read.Factor("logit_scale", 1);
  if (!read.Bool("rope.scaling.finetuned", true)) plan.rotated = 0;
  return plan;
}

}  // namespace owml::native
