// Media segments of a stage: the methods of IWinMLSegmentedSequenceStage, which no backend supports so far.
// A base of the stage handle in stage.h.
#pragma once

#include <WinMLRuntime.h>

#include "runtime/pipeline_core.h"

namespace owml {

class StageSegmentMethods : public IWinMLSegmentedSequenceStage {
 public:
  using AbiInterface = IWinMLSegmentedSequenceStage;

  HRESULT STDMETHODCALLTYPE GetEmbeddingLength(UINT32* embeddingLength) noexcept override;
  HRESULT STDMETHODCALLTYPE GetEmbeddingDataType(WINML_TENSOR_DATA_TYPE* dataType) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateMediaEncoderFromFile(LPCWSTR encoderPath, IWinMLExecutionTarget* target,
                                                       IWinMLMediaEncoder** encoder) noexcept override;
  HRESULT STDMETHODCALLTYPE BindEmbeddingSegment(UINT32 inputIndex, IWinMLTensor* embeddings,
                                                 IWinMLSequenceSegmentLayout* layout) noexcept override;
  HRESULT STDMETHODCALLTYPE ClearEmbeddingSegment(UINT32 inputIndex) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateMediaEncoderFromPipeline(IWinMLPipeline* pipeline, IWinMLStage* inputStage,
                                                           UINT32 inputIndex, IWinMLStage* outputStage,
                                                           UINT32 outputIndex,
                                                           IWinMLMediaEncoder** encoder) noexcept override;
  HRESULT STDMETHODCALLTYPE GetCapabilities(WINML_SEGMENTED_SEQUENCE_CAPABILITIES* capabilities) noexcept override;

 protected:
  ~StageSegmentMethods() = default;
  virtual const StageRef& stage() const noexcept = 0;
};

}  // namespace owml
