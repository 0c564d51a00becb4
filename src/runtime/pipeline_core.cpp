// The gates of a pipeline's machinery.
// See pipeline_core.h.
#include "runtime/pipeline_core.h"

#include "base/error.h"

namespace owml {

ExclusiveUse::ExclusiveUse(PipelineCore& core) : core_(core) {
  if (core.busy.exchange(true, std::memory_order_acquire)) {
    throw Error(HRESULT_FROM_WIN32(ERROR_BUSY), "the pipeline is executing or another change to it is going on");
  }
}

void RequireBuilt(PipelineCore& core) {
  const std::lock_guard lock(core.mutex);
  if (!core.built) throw Error(E_NOT_VALID_STATE, "the stage belongs to no built pipeline yet");
}

void RequireOpen(PipelineCore& core) {
  const std::lock_guard lock(core.mutex);
  if (core.built) throw Error(E_NOT_VALID_STATE, "Build has consumed the options of this stage");
}

}  // namespace owml
