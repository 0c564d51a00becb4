// Llama 1 to 3 and what shares their form: SmolLM2, TinyLlama, Mistral, Yi.
//   x += Attention(Norm(x)) Wo;  x += (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd
#include "backend/native/architectures/architectures.h"
#include "backend/native/model_reader.h"

namespace owml::native {

ModelPlan PlanLlama(ModelReader& read) {
  ModelPlan plan = read.Decoder();
  plan.rope_factors = RopeFactors::kFrequencies;  // Llama 3 stretches low frequencies
  const uint32_t window = read.Window();          // Mistral 7B: every layer
  for (LayerPlan& layer : plan.layers) layer.window = window;
  return plan;
}

}  // namespace owml::native
