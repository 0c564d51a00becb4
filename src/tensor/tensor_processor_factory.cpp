// The edge of the processor factory.
// The checks are the makers'.
#include "tensor/tensor_processor_factory.h"

#include "com/guard.h"
#include "tensor/decode_embed_processor.h"
#include "tensor/decode_greedy_processor.h"
#include "tensor/decode_sample_processor.h"

namespace owml {

HRESULT TensorProcessorFactoryMethods::CreateDecodeEmbedProcessor(UINT32 vocabularySize, UINT32 hiddenSize,
                                                                  UINT64 sequenceCapacity, IWinMLTensor* hiddenOutput,
                                                                  IWinMLProcessor** processor) noexcept {
  return Guard("IWinMLTensorProcessorFactory::CreateDecodeEmbedProcessor", [&] {
    RequireOut(processor, "processor");
    *processor = MakeDecodeEmbedProcessor(vocabularySize, hiddenSize, sequenceCapacity, hiddenOutput).Detach();
  });
}

HRESULT TensorProcessorFactoryMethods::CreateDecodeSampleProcessor(UINT32 vocabularySize, BOOL logitsAreFloat32,
                                                                   IWinMLTensor* tokenRing, IWinMLTensor* position,
                                                                   IWinMLTensor* sequenceLength,
                                                                   IWinMLTensor* observedToken,
                                                                   IWinMLProcessor** processor) noexcept {
  return Guard("IWinMLTensorProcessorFactory::CreateDecodeSampleProcessor", [&] {
    RequireOut(processor, "processor");
    *processor = MakeDecodeSampleProcessor(vocabularySize, logitsAreFloat32 != FALSE, tokenRing, position,
                                           sequenceLength, observedToken)
                     .Detach();
  });
}

HRESULT TensorProcessorFactoryMethods::CreateDecodeGreedyProcessor(UINT32 vocabularySize, BOOL logitsAreFloat32,
                                                                   IWinMLTensor* nextToken, IWinMLTensor* position,
                                                                   IWinMLTensor* stepState, IWinMLTensor* observedToken,
                                                                   IWinMLProcessor** processor) noexcept {
  return Guard("IWinMLTensorProcessorFactory::CreateDecodeGreedyProcessor", [&] {
    RequireOut(processor, "processor");
    *processor = MakeDecodeGreedyProcessor(vocabularySize, logitsAreFloat32 != FALSE, nextToken, position, stepState,
                                           observedToken)
                     .Detach();
  });
}

}  // namespace owml
