// The architectures that the engine knows, each in a file of its own that says what its paper says.
// Called by native_model.cpp when a file is loaded.
#pragma once

#include "backend/native/model_plan.h"
#include "formats/gguf.h"

namespace owml::native {

class ModelReader;

ModelPlan PlanLlama(ModelReader& read);
ModelPlan PlanQwen2(ModelReader& read);
ModelPlan PlanQwen3(ModelReader& read);
ModelPlan PlanGemma2(ModelReader& read);
ModelPlan PlanGemma3(ModelReader& read);
ModelPlan PlanPhi3(ModelReader& read);
ModelPlan PlanGranite(ModelReader& read);

// By general.architecture. Throws ERROR_NOT_SUPPORTED for another architecture or a feature that is not built,
// ERROR_INVALID_DATA for numbers that cannot be.
ModelPlan PlanOf(const GgufFile& file);

}  // namespace owml::native
