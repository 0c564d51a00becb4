// The answers of a stage without media support.
// See stage_segments.h.
#include "runtime/stage_segments.h"

#include "com/guard.h"
#include "runtime/build.h"

namespace owml {
namespace {

// State and lock, in the order every method of the interface checks them.
[[noreturn]] void Refuse(const StageRef& stage) {
  RequireBuilt(*stage.core);
  const ExclusiveUse use(*stage.core);
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), stage.node->label + " takes no media segments");
}

void RequireInput(const StageRef& stage, UINT32 index) {
  RequireBuilt(*stage.core);
  const size_t count = stage.node->schema()->inputs.size();
  Require(index < count, E_INVALIDARG,
          SlotLabel("input", index, *stage.node) + " does not exist; the stage has " + std::to_string(count));
}

}  // namespace

HRESULT StageSegmentMethods::GetEmbeddingLength(UINT32* embeddingLength) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::GetEmbeddingLength", [&] {
    RequireOut(embeddingLength, "embeddingLength");
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::GetEmbeddingDataType(WINML_TENSOR_DATA_TYPE* dataType) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::GetEmbeddingDataType", [&] {
    RequireOut(dataType, "dataType");
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::CreateMediaEncoderFromFile(LPCWSTR encoderPath, IWinMLExecutionTarget*,
                                                        IWinMLMediaEncoder** encoder) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::CreateMediaEncoderFromFile", [&] {
    RequireOut(encoder, "encoder");
    RequirePointer(encoderPath, "encoderPath");
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::BindEmbeddingSegment(UINT32 inputIndex, IWinMLTensor* embeddings,
                                                  IWinMLSequenceSegmentLayout* layout) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::BindEmbeddingSegment", [&] {
    RequirePointer(embeddings, "embeddings");
    RequirePointer(layout, "layout");
    RequireInput(stage(), inputIndex);
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::ClearEmbeddingSegment(UINT32 inputIndex) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::ClearEmbeddingSegment", [&] {
    RequireInput(stage(), inputIndex);
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::CreateMediaEncoderFromPipeline(IWinMLPipeline* pipeline, IWinMLStage* inputStage, UINT32,
                                                            IWinMLStage* outputStage, UINT32,
                                                            IWinMLMediaEncoder** encoder) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::CreateMediaEncoderFromPipeline", [&] {
    RequireOut(encoder, "encoder");
    RequirePointer(pipeline, "pipeline");
    RequirePointer(inputStage, "inputStage");
    RequirePointer(outputStage, "outputStage");
    Refuse(stage());
  });
}

HRESULT StageSegmentMethods::GetCapabilities(WINML_SEGMENTED_SEQUENCE_CAPABILITIES* capabilities) noexcept {
  return Guard("IWinMLSegmentedSequenceStage::GetCapabilities", [&] {
    RequireOut(capabilities, "capabilities");
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
  });
}

}  // namespace owml
