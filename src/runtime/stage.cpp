// Puts a stage's interfaces together and settles which of them an instance offers.
// See stage.h.
#include "runtime/stage.h"

#include "com/implements.h"
#include "runtime/stage_bindings.h"
#include "runtime/stage_cancellation.h"
#include "runtime/stage_dimensions.h"
#include "runtime/stage_options.h"
#include "runtime/stage_ort.h"
#include "runtime/stage_profile.h"
#include "runtime/stage_schema.h"
#include "runtime/stage_segments.h"
#include "runtime/stage_state.h"
#include "runtime/stage_state_options.h"

namespace owml {

// Answered by our own stages only.
struct IStageIdentity : public IUnknown {
  virtual const StageRef& identity() const noexcept = 0;

 protected:
  ~IStageIdentity() = default;
};

}  // namespace owml

__CRT_UUID_DECL(owml::IStageIdentity, 0x7b0c52d9, 0x3e18, 0x4f4a, 0x9a, 0x61, 0xd2, 0x5f, 0x80, 0x1b, 0xc3, 0x46)

namespace owml {
namespace {

class Stage final
    : public Implements<Stage, StageBindingMethods, StageSchemaMethods, StageStateMethods, StageSegmentMethods,
                        StageStateOptionMethods, StageOptionMethods, StageNamedBindingMethods, StageOrtOptionMethods,
                        StageOrtDiagnosticMethods, StageDimensionMethods, StageCancellationMethods, StageProfileMethods,
                        IStageIdentity> {
 public:
  explicit Stage(StageRef stage)
      : stage_(std::move(stage)), is_model_(stage_.node->model != nullptr), is_onnx_(stage_.node->is_onnx()) {}

  bool OffersInterface(REFIID iid) const noexcept {
    const auto is = [&](REFIID other) { return IsEqualGUID(iid, other) != 0; };
    if (is(__uuidof(IWinMLStatefulStageOptions)) || is(__uuidof(IOwmlStageOptions))) return is_model_;
    if (is(__uuidof(IWinMLOrtNamedBindings)) || is(__uuidof(IWinMLOrtStageOptions)) ||
        is(__uuidof(IWinMLOrtStageDiagnostics)) || is(__uuidof(IWinMLOnnxSymbolicDimensionOverrides))) {
      return is_onnx_;
    }
    return true;
  }

  const StageRef& identity() const noexcept override { return stage_; }

 private:
  const StageRef& stage() const noexcept override { return stage_; }

  const StageRef stage_;
  const bool is_model_;
  const bool is_onnx_;
};

}  // namespace

ComPtr<IWinMLStage> MakeStage(StageRef stage) { return Make<Stage>(std::move(stage)); }

const StageRef* StageOf(IWinMLStage* stage) {
  const ComPtr<IStageIdentity> ours = Query<IStageIdentity>(stage);
  return ours ? &ours->identity() : nullptr;
}

}  // namespace owml
