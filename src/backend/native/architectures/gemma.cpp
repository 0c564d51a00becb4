// Gemma 2 and 3 (text). Norms before and after each step, embeddings scaled by the root of the width, GELU, a head that
// is the embedding; most layers see a window only.
//   x += Norm(Attention(Norm(x)) Wo);  x += Norm((GELU(Norm(x) Wg) * Norm(x) Wu) Wd)
#include <cmath>

#include "backend/native/architectures/architectures.h"
#include "backend/native/model_reader.h"

namespace owml::native {
namespace {

ModelPlan PlanGemma(ModelReader& read, size_t layers_of_largest) {
  ModelPlan plan = read.Decoder();
  plan.rope_order = RopeOrder::kHalves;
  plan.activation = Activation::kGelu;
  plan.post_norms = true;
  plan.embedding_scale = std::sqrt(static_cast<float>(plan.width));
  // The 27B models divide by the width of a head as if heads shared the model's width.
  if (plan.layers.size() == layers_of_largest) {
    plan.query_scale = 1.0f / std::sqrt(static_cast<float>(plan.width / plan.heads));
  }
  return plan;
}

// Windowed layers have angles of their own.
void AddWindows(ModelReader& read, uint32_t window, uint32_t cycle, const RopePlan& local, ModelPlan* plan) {
  plan->ropes.push_back(local);
  const std::vector<bool> windowed = read.WindowedLayers(plan->layers.size(), cycle);
  for (size_t i = 0; i < windowed.size(); ++i) {
    if (windowed[i]) plan->layers[i] = {.window = window, .rope = 1};
  }
}

}  // namespace

ModelPlan PlanGemma2(ModelReader& read) {
  ModelPlan plan = PlanGemma(read, 46);
  plan.score_cap = static_cast<float>(read.Positive("attn_logit_softcapping", 50));
  plan.logit_cap = static_cast<float>(read.Positive("final_logit_softcapping", 30));
  const uint32_t window = read.Window();
  RopePlan local = plan.ropes[0];
  local.base = read.Positive("rope.freq_base_swa", local.base);
  AddWindows(read, window ? window : 4096, 2, local, &plan);
  return plan;
}

ModelPlan PlanGemma3(ModelReader& read) {
  ModelPlan plan = PlanGemma(read, 62);
  plan.head_norms = true;
  plan.logit_cap = read.Factor("final_logit_softcapping", 0);
  // Local layers keep the angles of the short context that training began with.
  const RopePlan local{.base = read.Positive("rope.freq_base_swa", 10000)};
  if (const uint32_t window = read.Window()) AddWindows(read, window, 6, local, &plan);
  return plan;
}

}  // namespace owml::native
