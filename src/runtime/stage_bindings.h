// Binding, publishing and reading a stage's tensors: the methods of IWinMLStage and, by name, of
// IWinMLOrtNamedBindings. Bases of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLRuntimeOrt.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageBindingMethods : public IWinMLStage {
 public:
  using AbiInterface = IWinMLStage;

  HRESULT STDMETHODCALLTYPE GetDebugName(LPCWSTR* debugName) noexcept override;
  HRESULT STDMETHODCALLTYPE BindInput(UINT32 index, IWinMLTensor* tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE BindOutput(UINT32 index, IWinMLTensor* tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOutput(UINT32 index, IWinMLTensor** tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE RequestOutput(UINT32 index) noexcept override;
  HRESULT STDMETHODCALLTYPE ResetOutput(UINT32 index) noexcept override;
  HRESULT STDMETHODCALLTYPE GetExecutionTarget(IWinMLExecutionTarget** target) noexcept override;

 protected:
  ~StageBindingMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

class StageNamedBindingMethods : public IWinMLOrtNamedBindings {
 public:
  using AbiInterface = IWinMLOrtNamedBindings;

  HRESULT STDMETHODCALLTYPE BindInputByName(LPCWSTR name, IWinMLTensor* tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE BindOutputByName(LPCWSTR name, IWinMLTensor* tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOutputByName(LPCWSTR name, IWinMLTensor** tensor) noexcept override;

 protected:
  ~StageNamedBindingMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
