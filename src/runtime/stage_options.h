// Our own tuning options of a model stage: the methods of IOwmlStageOptions (openwinml/stage_options.h).
// A base of the stage handle in stage.h.
#pragma once

#include <openwinml/stage_options.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageOptionMethods : public IOwmlStageOptions {
 public:
  using AbiInterface = IOwmlStageOptions;

  HRESULT STDMETHODCALLTYPE SetIntraOpThreadCount(UINT32 count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetIntraOpThreadCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE SetInterOpThreadCount(UINT32 count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetInterOpThreadCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE SetEngine(OWML_ENGINE engine) noexcept override;
  HRESULT STDMETHODCALLTYPE GetEngine(OWML_ENGINE* engine) noexcept override;
  HRESULT STDMETHODCALLTYPE GetEngineReason(LPCWSTR* reason) noexcept override;
  HRESULT STDMETHODCALLTYPE SetKvCacheType(OWML_KV_CACHE_TYPE type) noexcept override;
  HRESULT STDMETHODCALLTYPE GetKvCacheType(OWML_KV_CACHE_TYPE* type) noexcept override;
  HRESULT STDMETHODCALLTYPE SetBatchSize(UINT32 tokenCount) noexcept override;
  HRESULT STDMETHODCALLTYPE GetBatchSize(UINT32* tokenCount) noexcept override;
  HRESULT STDMETHODCALLTYPE SetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL level) noexcept override;
  HRESULT STDMETHODCALLTYPE GetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL* level) noexcept override;

 protected:
  ~StageOptionMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
