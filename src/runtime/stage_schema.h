// Counts and concrete descriptors of a stage: the methods of IWinMLStageSchema.
// A base of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageSchemaMethods : public IWinMLStageSchema {
 public:
  using AbiInterface = IWinMLStageSchema;

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept override;

 protected:
  ~StageSchemaMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
