// How a model stage's sequence state is to be set up at Build: the methods of IWinMLStatefulStageOptions.
// A base of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageStateOptionMethods : public IWinMLStatefulStageOptions {
 public:
  using AbiInterface = IWinMLStatefulStageOptions;

  HRESULT STDMETHODCALLTYPE SetSequenceCapacityHint(UINT64 capacity) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSequenceCapacityHint(UINT64* capacity) noexcept override;
  HRESULT STDMETHODCALLTYPE SetCallerOwnsStateTensors(BOOL value) noexcept override;
  HRESULT STDMETHODCALLTYPE GetCallerOwnsStateTensors(BOOL* value) noexcept override;
  HRESULT STDMETHODCALLTYPE AddStateTensorPair(UINT32 inputIndex, UINT32 outputIndex) noexcept override;
  HRESULT STDMETHODCALLTYPE ClearStateTensorPairs() noexcept override;
  HRESULT STDMETHODCALLTYPE GetStateTensorPairCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetStateTensorPair(UINT32 pairIndex, UINT32* inputIndex,
                                               UINT32* outputIndex) noexcept override;
  HRESULT STDMETHODCALLTYPE SetDraftTokenLimitHint(UINT32 count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetDraftTokenLimitHint(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE SetModelDraftPredictorEnabled(BOOL enabled) noexcept override;
  HRESULT STDMETHODCALLTYPE GetModelDraftPredictorEnabled(BOOL* enabled) noexcept override;
  HRESULT STDMETHODCALLTYPE SetDraftPredictorPath(LPCWSTR path) noexcept override;
  HRESULT STDMETHODCALLTYPE GetDraftPredictorPath(LPCWSTR* path) noexcept override;

 protected:
  ~StageStateOptionMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
