// The decode processors that an execution target makes.
// The class fills IWinMLTensorProcessorFactory of an execution target.
#pragma once

#include <WinMLRuntime.h>

namespace owml {

// A base for an object that offers the interface; IUnknown is the object's own.
class TensorProcessorFactoryMethods : public IWinMLTensorProcessorFactory {
 public:
  using AbiInterface = IWinMLTensorProcessorFactory;

  HRESULT STDMETHODCALLTYPE CreateDecodeEmbedProcessor(UINT32 vocabularySize, UINT32 hiddenSize,
                                                       UINT64 sequenceCapacity, IWinMLTensor* hiddenOutput,
                                                       IWinMLProcessor** processor) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateDecodeSampleProcessor(UINT32 vocabularySize, BOOL logitsAreFloat32,
                                                        IWinMLTensor* tokenRing, IWinMLTensor* position,
                                                        IWinMLTensor* sequenceLength, IWinMLTensor* observedToken,
                                                        IWinMLProcessor** processor) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateDecodeGreedyProcessor(UINT32 vocabularySize, BOOL logitsAreFloat32,
                                                        IWinMLTensor* nextToken, IWinMLTensor* position,
                                                        IWinMLTensor* stepState, IWinMLTensor* observedToken,
                                                        IWinMLProcessor** processor) noexcept override;

 protected:
  ~TensorProcessorFactoryMethods() = default;
};

}  // namespace owml
