// From an architecture's name to its plan.
// The names are those of general.architecture in GGUF files.
#include "backend/native/architectures/architectures.h"

#include <string_view>

#include "backend/native/model_reader.h"
#include "formats/bad_data.h"

namespace owml::native {
namespace {

struct Architecture {
  std::string_view name;
  ModelPlan (*plan)(ModelReader& read);
};

constexpr Architecture kArchitectures[] = {
    {"llama", PlanLlama},   {"qwen2", PlanQwen2}, {"qwen3", PlanQwen3},     {"gemma2", PlanGemma2},
    {"gemma3", PlanGemma3}, {"phi3", PlanPhi3},   {"granite", PlanGranite},
};

}  // namespace

ModelPlan PlanOf(const GgufFile& file) {
  ModelReader read(file);
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name != read.architecture()) continue;
    ModelPlan plan = architecture.plan(read);
    read.RequireAllRead();
    return plan;
  }
  read.NotSupported("has the architecture " + Quoted(read.architecture()));
}

}  // namespace owml::native
