// Extents for the symbolic dimensions of an ONNX stage: the methods of IWinMLOnnxSymbolicDimensionOverrides.
// A base of the stage handle in stage.h; applied when Build prepares the model.
#pragma once

#include <WinMLRuntime.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageDimensionMethods : public IWinMLOnnxSymbolicDimensionOverrides {
 public:
  using AbiInterface = IWinMLOnnxSymbolicDimensionOverrides;

  HRESULT STDMETHODCALLTYPE SetOverride(LPCWSTR name, INT64 extent) noexcept override;
  HRESULT STDMETHODCALLTYPE RemoveOverride(LPCWSTR name) noexcept override;
  HRESULT STDMETHODCALLTYPE ClearOverrides() noexcept override;
  HRESULT STDMETHODCALLTYPE TryGetOverride(LPCWSTR name, INT64* extent) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOverrideCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOverrideAt(UINT32 index, UINT32 nameCapacity, LPWSTR name, UINT32* nameLength,
                                          INT64* extent) noexcept override;

 protected:
  ~StageDimensionMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
