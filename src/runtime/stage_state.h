// Sequence position, capacity and multi-token steps of a built stage: the methods of IWinMLStatefulStage.
// A base of the stage handle in stage.h; the work is in backend/sequence_state.h.
#pragma once

#include <WinMLRuntime.h>

#include "runtime/pipeline_core.h"

namespace owml {

// Every method answers ERROR_BUSY while the pipeline executes: positions are only meaningful between executions.
class StageStateMethods : public IWinMLStatefulStage {
 public:
  using AbiInterface = IWinMLStatefulStage;

  HRESULT STDMETHODCALLTYPE GetSequenceCapacity(UINT64* capacity) noexcept override;
  HRESULT STDMETHODCALLTYPE GetDeclaredSequenceCapacity(WINML_SEQUENCE_CAPACITY_DISCLOSURE* disclosure,
                                                        UINT64* capacity) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSequencePosition(UINT64* position) noexcept override;
  HRESULT STDMETHODCALLTYPE RewindTo(UINT64 position) noexcept override;
  HRESULT STDMETHODCALLTYPE SetSequenceCapacity(UINT64 capacity) noexcept override;
  HRESULT STDMETHODCALLTYPE GetSpeculativeCapabilities(WINML_SPECULATIVE_CAPABILITIES* capabilities) noexcept override;
  HRESULT STDMETHODCALLTYPE StepAllPositions(const INT32* tokens, UINT32 tokenCount, FLOAT* logits,
                                             UINT64 logitCapacityElements, UINT32* rowsWritten,
                                             UINT32* rowStride) noexcept override;
  HRESULT STDMETHODCALLTYPE CommitAcceptedPrefix(UINT32 acceptedCount, UINT64* position) noexcept override;
  HRESULT STDMETHODCALLTYPE ProposeDraftTokens(INT32 pendingToken, UINT32 maxTokenCount, INT32* tokens,
                                               UINT32* tokenCount) noexcept override;

 protected:
  ~StageStateMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
