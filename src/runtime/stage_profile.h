// Where the time of a stage's runs goes: the methods of IOwmlStageProfile.
// A base of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>
#include <openwinml/stage_profile.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageProfileMethods : public IOwmlStageProfile {
 public:
  using AbiInterface = IOwmlStageProfile;

  HRESULT STDMETHODCALLTYPE Start() noexcept override;
  HRESULT STDMETHODCALLTYPE Stop() noexcept override;
  HRESULT STDMETHODCALLTYPE GetOperationCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOperation(UINT32 index, LPWSTR* name,
                                         OWML_PROFILED_OPERATION* operation) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSpanCount(UINT64* kept, UINT64* lost) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSpans(UINT64 first, UINT64 spanCount, OWML_PROFILED_SPAN* spans) noexcept override;
  HRESULT STDMETHODCALLTYPE GetWorkBufferBytes(UINT64* reserved, UINT64* unshared) noexcept override;

 protected:
  ~StageProfileMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
