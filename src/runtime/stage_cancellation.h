// Ending a run of a stage early: the method of IOwmlStageCancellation.
// A base of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>
#include <openwinml/stage_cancellation.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageCancellationMethods : public IOwmlStageCancellation {
 public:
  using AbiInterface = IOwmlStageCancellation;

  HRESULT STDMETHODCALLTYPE SetCancellationSource(IWinMLCancellationSource* source) noexcept override;

 protected:
  ~StageCancellationMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
