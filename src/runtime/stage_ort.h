// What only an ONNX stage offers: provider and session options before Build, provider diagnostics after it.
// Bases of the stage handle in stage.h.
#pragma once

#include <WinMLRuntimeOrt.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageOrtOptionMethods : public IWinMLOrtStageOptions {
 public:
  using AbiInterface = IWinMLOrtStageOptions;

  HRESULT STDMETHODCALLTYPE SetProviderOption(LPCWSTR key, LPCWSTR value) noexcept override;
  HRESULT STDMETHODCALLTYPE SetSessionConfigEntry(LPCWSTR key, LPCWSTR value) noexcept override;
  HRESULT STDMETHODCALLTYPE SetSharedContextGroup(LPCWSTR groupName) noexcept override;
  HRESULT STDMETHODCALLTYPE ClearSharedContextGroup() noexcept override;

 protected:
  ~StageOrtOptionMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

class StageOrtDiagnosticMethods : public IWinMLOrtStageDiagnostics {
 public:
  using AbiInterface = IWinMLOrtStageDiagnostics;

  HRESULT STDMETHODCALLTYPE GetRequestedProviderName(LPCWSTR* providerName) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSelectedProviderName(LPCWSTR* providerName) noexcept override;
  HRESULT STDMETHODCALLTYPE IsProviderPinned(BOOL* isPinned) noexcept override;

 protected:
  ~StageOrtDiagnosticMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
