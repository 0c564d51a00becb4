// From a loaded ONNX decoder to a text session in one call: stage and pipeline are built as well, by the names that the
// caller gives. Nothing is inferred from names, shapes or shared storage.
// For C++ applications; header only, over WinMLTasks.h and WinMLRuntimeOrt.h.
#ifndef WINML_TASKS_TEXT_GENERATION_ONNX_TEXT_GENERATION_HPP_
#define WINML_TASKS_TEXT_GENERATION_ONNX_TEXT_GENERATION_HPP_

#include "../../../../WinMLRuntimeOrt.h"
#include "../TextGeneration.hpp"

namespace winml::tasks::text_generation::onnx {

/// Input `inputIndex` of the next run takes what output `outputIndex` of the last one left.
struct StateTensorPair {
  UINT32 inputIndex;
  UINT32 outputIndex;
};

/// The extent of a named dimension.
struct SymbolicDimension {
  LPCWSTR name;
  INT64 extent;
};

struct BuildTextGenerationArguments {
  IWinMLRuntime* runtime = nullptr;
  IWinMLModel* model = nullptr;
  IWinMLExecutionTarget* target = nullptr;  // of the stage, and where token tensors are made
  IWinMLTokenizer* tokenizer = nullptr;
  LPCWSTR tokenInputName = nullptr;
  LPCWSTR outputName = nullptr;
  LPCWSTR debugName = nullptr;
  std::span<const StateTensorPair> stateTensorPairs = {};
  std::span<const SymbolicDimension> symbolicDimensions = {};
  UINT64 sequenceCapacityHint = 0;  // positions; 0 = none
  WINML_TEXT_GENERATION_OUTPUT_KIND outputKind = WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
  WINML_TEXT_GENERATION_EOS_POLICY eosPolicy = WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT;
  std::span<const UINT32> eosTokenIds = {};  // with EXPLICIT
  const Options* options = nullptr;          // null = 256 tokens, greedily
};

namespace detail {

using text_generation::detail::Steps;

template <class Interface>
HRESULT Ask(IUnknown* object, Microsoft::WRL::ComPtr<Interface>& found) noexcept {
  return object->QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(found.ReleaseAndGetAddressOf()));
}

inline HRESULT SetStageOptions(const BuildTextGenerationArguments& arguments, IWinMLStage* stage) noexcept {
  Microsoft::WRL::ComPtr<IWinMLStatefulStageOptions> state;
  Microsoft::WRL::ComPtr<IWinMLOnnxSymbolicDimensionOverrides> dimensions;
  HRESULT result = Ask(stage, state);
  for (const StateTensorPair& pair : arguments.stateTensorPairs) {
    if (SUCCEEDED(result)) result = state->AddStateTensorPair(pair.inputIndex, pair.outputIndex);
  }
  if (SUCCEEDED(result) && arguments.sequenceCapacityHint != 0) {
    result = state->SetSequenceCapacityHint(arguments.sequenceCapacityHint);
  }
  if (SUCCEEDED(result) && !arguments.symbolicDimensions.empty()) result = Ask(stage, dimensions);
  for (const SymbolicDimension& dimension : arguments.symbolicDimensions) {
    if (SUCCEEDED(result)) result = dimensions->SetOverride(dimension.name, dimension.extent);
  }
  return result;
}

}  // namespace detail

/// On failure `built` stays as it was. ERROR_NOT_FOUND: the model has no input or output of that name.
inline HRESULT BuildTextGeneration(const BuildTextGenerationArguments& arguments,
                                   text_generation::TextGeneration& built) noexcept {
  if (arguments.runtime == nullptr || arguments.model == nullptr || arguments.tokenInputName == nullptr ||
      arguments.outputName == nullptr) {
    return E_POINTER;
  }
  Microsoft::WRL::ComPtr<IWinMLOrtModelSchema> names;
  Microsoft::WRL::ComPtr<IWinMLPipelineBuilder> builder;
  Microsoft::WRL::ComPtr<IWinMLStage> stage;
  Microsoft::WRL::ComPtr<IWinMLPipeline> pipeline;
  TextGenerationArguments unified;
  return detail::Steps()
      .Then([&] { return detail::Ask(arguments.model, names); })
      .Then([&] { return names->FindInputIndex(arguments.tokenInputName, &unified.tokenInput.index); })
      .Then([&] { return names->FindOutputIndex(arguments.outputName, &unified.output.index); })
      .Then([&] { return arguments.runtime->CreatePipelineBuilder(builder.GetAddressOf()); })
      .Then([&] {
        return builder->AddModelStage(arguments.model, arguments.target, arguments.debugName, stage.GetAddressOf());
      })
      .Then([&] { return detail::SetStageOptions(arguments, stage.Get()); })
      .Then([&] { return builder->Build(pipeline.GetAddressOf()); })
      .Then([&] {
        unified.runtime = arguments.runtime;
        unified.pipeline = pipeline.Get();
        unified.tokenInput.stage = stage.Get();
        unified.output.stage = stage.Get();
        unified.output.kind = arguments.outputKind;
        unified.stateOwnerStage = stage.Get();
        unified.tokenTarget = arguments.target;
        unified.tokenizer = arguments.tokenizer;
        unified.eosPolicy = arguments.eosPolicy;
        unified.eosTokenIds = arguments.eosTokenIds;
        unified.options = arguments.options;
        return text_generation::BuildTextGeneration(unified, built);
      })
      .result();
}

}  // namespace winml::tasks::text_generation::onnx

#endif  // WINML_TASKS_TEXT_GENERATION_ONNX_TEXT_GENERATION_HPP_
