// Setters and getters under one lock, and the rule that a configuration serves one session.
// See configuration.h; what must fit together is checked in composition_check.cpp.
#include "tasks/text_generation/configuration.h"

#include <mutex>
#include <string>

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

void RequirePhase(WINML_TEXT_GENERATION_PIPELINE_PHASE phase) {
  Require(phase >= WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED && phase <= WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE,
          E_INVALIDARG, "the phase " + std::to_string(phase) + " is unknown");
}

class Configuration final
    : public Implements<Configuration, IWinMLTextGenerationConfiguration, IWinMLTaskRuntimeIdentity,
                        IWinMLTextGenerationSpeculativeConfiguration, ICompositionSource> {
 public:
  explicit Configuration(ComPtr<IWinMLRuntime> runtime) : runtime_(std::move(runtime)) {}

  HRESULT STDMETHODCALLTYPE GetRuntime(IWinMLRuntime** runtime) noexcept override {
    return Guard("IWinMLTaskRuntimeIdentity::GetRuntime", [&] {
      RequireOut(runtime, "runtime");
      *runtime = AddedRef(runtime_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE mode) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetMode", [&] {
      Require(mode >= 0 && mode <= WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE, E_INVALIDARG,
              "the mode " + std::to_string(mode) + " is unknown");
      Change([&](Composition& parts) { parts.mode = mode; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE* mode) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetMode", [&] {
      RequirePointer(mode, "mode");
      *mode = Copy().mode;
    });
  }

  HRESULT STDMETHODCALLTYPE SetPipeline(WINML_TEXT_GENERATION_PIPELINE_PHASE phase,
                                        IWinMLPipeline* pipeline) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetPipeline", [&] {
      RequirePointer(pipeline, "pipeline");
      RequirePhase(phase);
      Change([&](Composition& parts) { parts.phases[phase].pipeline = pipeline; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetPipeline(WINML_TEXT_GENERATION_PIPELINE_PHASE phase,
                                        IWinMLPipeline** pipeline) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetPipeline", [&] {
      RequireOut(pipeline, "pipeline");
      RequirePhase(phase);
      *pipeline = Copy().phases[phase].pipeline.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE SetTokenInput(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, IWinMLStage* stage,
                                          UINT32 inputIndex) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetTokenInput", [&] {
      RequirePointer(stage, "stage");
      RequirePhase(phase);
      Change([&](Composition& parts) { parts.phases[phase].token_input = {stage, inputIndex}; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetTokenInput(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, IWinMLStage** stage,
                                          UINT32* inputIndex) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetTokenInput", [&] {
      if (stage) *stage = nullptr;
      if (inputIndex) *inputIndex = 0;
      RequirePointer(stage, "stage");
      RequirePointer(inputIndex, "inputIndex");
      RequirePhase(phase);
      StagePort port = Copy().phases[phase].token_input;
      *stage = port.stage.Detach();
      *inputIndex = port.index;
    });
  }

  HRESULT STDMETHODCALLTYPE SetOutput(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, IWinMLStage* stage,
                                      UINT32 outputIndex,
                                      WINML_TEXT_GENERATION_OUTPUT_KIND outputKind) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetOutput", [&] {
      RequirePointer(stage, "stage");
      RequirePhase(phase);
      Require(outputKind >= 0 && outputKind <= WINML_TEXT_GENERATION_OUTPUT_KIND_SAMPLED_TOKEN, E_INVALIDARG,
              "the outputKind " + std::to_string(outputKind) + " is unknown");
      Change([&](Composition& parts) {
        parts.phases[phase].output = {stage, outputIndex};
        parts.phases[phase].output_kind = outputKind;
      });
    });
  }

  HRESULT STDMETHODCALLTYPE GetOutput(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, IWinMLStage** stage,
                                      UINT32* outputIndex,
                                      WINML_TEXT_GENERATION_OUTPUT_KIND* outputKind) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetOutput", [&] {
      if (stage) *stage = nullptr;
      if (outputIndex) *outputIndex = 0;
      if (outputKind) *outputKind = WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
      RequirePointer(stage, "stage");
      RequirePointer(outputIndex, "outputIndex");
      RequirePointer(outputKind, "outputKind");
      RequirePhase(phase);
      PhaseParts parts = Copy().phases[phase];
      *stage = parts.output.stage.Detach();
      *outputIndex = parts.output.index;
      *outputKind = parts.output_kind;
    });
  }

  HRESULT STDMETHODCALLTYPE SetStateOwnerStage(IWinMLStage* stage) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetStateOwnerStage", [&] {
      RequirePointer(stage, "stage");
      Change([&](Composition& parts) { parts.state_owner = stage; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetStateOwnerStage(IWinMLStage** stage) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetStateOwnerStage", [&] {
      RequireOut(stage, "stage");
      *stage = Copy().state_owner.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE SetTokenTarget(IWinMLExecutionTarget* target) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetTokenTarget", [&] {
      RequirePointer(target, "target");
      Change([&](Composition& parts) { parts.token_target = target; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetTokenTarget(IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetTokenTarget", [&] {
      RequireOut(target, "target");
      *target = Copy().token_target.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE SetTokenizer(IWinMLTokenizer* tokenizer) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetTokenizer", [&] {
      RequirePointer(tokenizer, "tokenizer");
      Change([&](Composition& parts) { parts.tokenizer = tokenizer; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetTokenizer", [&] {
      RequireOut(tokenizer, "tokenizer");
      *tokenizer = Copy().tokenizer.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE SetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE mode) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetDecodeInputMode", [&] {
      Require(mode >= 0 && mode <= WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK, E_INVALIDARG,
              "the mode " + std::to_string(mode) + " is unknown");
      Change([&](Composition& parts) { parts.decode_input_mode = mode; });
    });
  }

  HRESULT STDMETHODCALLTYPE GetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE* mode) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetDecodeInputMode", [&] {
      RequirePointer(mode, "mode");
      *mode = Copy().decode_input_mode;
    });
  }

  // Spec-open: 0 takes the limit back.
  HRESULT STDMETHODCALLTYPE SetLogicalCapacity(UINT64 capacity) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::SetLogicalCapacity",
                 [&] { Change([&](Composition& parts) { parts.logical_capacity = capacity; }); });
  }

  HRESULT STDMETHODCALLTYPE GetLogicalCapacity(UINT64* capacity) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetLogicalCapacity", [&] {
      RequirePointer(capacity, "capacity");
      *capacity = Copy().logical_capacity;
    });
  }

  // Spec-open: a second binding of the same output takes the place of the first.
  HRESULT STDMETHODCALLTYPE AddCallerOutputBinding(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, IWinMLStage* stage,
                                                   UINT32 outputIndex, IWinMLTensor* tensor) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::AddCallerOutputBinding", [&] {
      RequirePointer(stage, "stage");
      RequirePointer(tensor, "tensor");
      RequirePhase(phase);
      Change([&](Composition& parts) {
        std::vector<CallerOutput>& outputs = parts.phases[phase].caller_outputs;
        for (CallerOutput& output : outputs) {
          if (output.port.index != outputIndex || output.port.stage.Get() != stage) continue;
          output.tensor = tensor;
          return;
        }
        outputs.push_back({{stage, outputIndex}, tensor});
      });
    });
  }

  HRESULT STDMETHODCALLTYPE GetCallerOutputBindingCount(WINML_TEXT_GENERATION_PIPELINE_PHASE phase,
                                                        UINT32* count) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetCallerOutputBindingCount", [&] {
      RequireOut(count, "count");
      RequirePhase(phase);
      *count = static_cast<UINT32>(Copy().phases[phase].caller_outputs.size());
    });
  }

  HRESULT STDMETHODCALLTYPE GetCallerOutputBinding(WINML_TEXT_GENERATION_PIPELINE_PHASE phase, UINT32 bindingIndex,
                                                   IWinMLStage** stage, UINT32* outputIndex,
                                                   IWinMLTensor** tensor) noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::GetCallerOutputBinding", [&] {
      if (stage) *stage = nullptr;
      if (outputIndex) *outputIndex = 0;
      if (tensor) *tensor = nullptr;
      RequirePointer(stage, "stage");
      RequirePointer(outputIndex, "outputIndex");
      RequirePointer(tensor, "tensor");
      RequirePhase(phase);
      std::vector<CallerOutput> outputs = Copy().phases[phase].caller_outputs;
      Require(bindingIndex < outputs.size(), E_BOUNDS,
              "bindingIndex " + std::to_string(bindingIndex) + " of " + std::to_string(outputs.size()));
      *stage = outputs[bindingIndex].port.stage.Detach();
      *outputIndex = outputs[bindingIndex].port.index;
      *tensor = outputs[bindingIndex].tensor.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE Validate() noexcept override {
    return Guard("IWinMLTextGenerationConfiguration::Validate", [&] {
      Composition parts;
      {
        const std::lock_guard lock(mutex_);
        RequireFree();
        parts = parts_;
      }
      CheckComposition(parts);
    });
  }

  HRESULT STDMETHODCALLTYPE
  SetSpeculativeOptions(const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS* options) noexcept override {
    return Guard("IWinMLTextGenerationSpeculativeConfiguration::SetSpeculativeOptions", [&] {
      RequirePointer(options, "options");
      Change([&](Composition& parts) { parts.speculative = *options; });
    });
  }

  HRESULT STDMETHODCALLTYPE
  GetSpeculativeOptions(WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS* options) noexcept override {
    return Guard("IWinMLTextGenerationSpeculativeConfiguration::GetSpeculativeOptions", [&] {
      RequirePointer(options, "options");
      *options = Copy().speculative;
    });
  }

  HRESULT STDMETHODCALLTYPE SetDraftPipeline(IWinMLPipeline* pipeline, IWinMLStage* tokenInputStage,
                                             UINT32 tokenInputIndex, IWinMLStage* outputStage, UINT32 outputIndex,
                                             IWinMLStage* stateOwnerStage) noexcept override {
    return Guard("IWinMLTextGenerationSpeculativeConfiguration::SetDraftPipeline", [&] {
      RequirePointer(pipeline, "pipeline");
      RequirePointer(tokenInputStage, "tokenInputStage");
      RequirePointer(outputStage, "outputStage");
      RequirePointer(stateOwnerStage, "stateOwnerStage");
      Change([&](Composition& parts) {
        parts.draft = {pipeline, {tokenInputStage, tokenInputIndex}, {outputStage, outputIndex}, stateOwnerStage};
      });
    });
  }

  HRESULT STDMETHODCALLTYPE GetDraftPipeline(IWinMLPipeline** pipeline, IWinMLStage** tokenInputStage,
                                             UINT32* tokenInputIndex, IWinMLStage** outputStage, UINT32* outputIndex,
                                             IWinMLStage** stateOwnerStage) noexcept override {
    return Guard("IWinMLTextGenerationSpeculativeConfiguration::GetDraftPipeline", [&] {
      if (pipeline) *pipeline = nullptr;
      if (tokenInputStage) *tokenInputStage = nullptr;
      if (tokenInputIndex) *tokenInputIndex = 0;
      if (outputStage) *outputStage = nullptr;
      if (outputIndex) *outputIndex = 0;
      if (stateOwnerStage) *stateOwnerStage = nullptr;
      RequirePointer(pipeline, "pipeline");
      RequirePointer(tokenInputStage, "tokenInputStage");
      RequirePointer(tokenInputIndex, "tokenInputIndex");
      RequirePointer(outputStage, "outputStage");
      RequirePointer(outputIndex, "outputIndex");
      RequirePointer(stateOwnerStage, "stateOwnerStage");
      DraftParts draft = Copy().draft;
      *pipeline = draft.pipeline.Detach();
      *tokenInputStage = draft.token_input.stage.Detach();
      *tokenInputIndex = draft.token_input.index;
      *outputStage = draft.output.stage.Detach();
      *outputIndex = draft.output.index;
      *stateOwnerStage = draft.state_owner.Detach();
    });
  }

  Composition BeginUse() override {
    const std::lock_guard lock(mutex_);
    RequireFree();
    use_ = Use::kLent;
    return parts_;
  }

  void EndUse(bool used_up) noexcept override {
    const std::lock_guard lock(mutex_);
    use_ = used_up ? Use::kUsedUp : Use::kFree;
  }

 private:
  enum class Use { kFree, kLent, kUsedUp };

  void RequireFree() const {
    Require(use_ == Use::kFree, E_NOT_VALID_STATE,
            use_ == Use::kLent ? "a session is being made of the configuration"
                               : "the configuration has been used for a session");
  }

  // The old parts are released outside the lock.
  template <class Body>
  void Change(Body&& body) {
    Composition before;
    const std::lock_guard lock(mutex_);
    RequireFree();
    before = parts_;
    body(parts_);
  }

  Composition Copy() const {
    const std::lock_guard lock(mutex_);
    return parts_;
  }

  const ComPtr<IWinMLRuntime> runtime_;
  mutable std::mutex mutex_;
  Composition parts_;
  Use use_ = Use::kFree;
};

}  // namespace

ComPtr<IWinMLTextGenerationConfiguration> MakeConfiguration(IWinMLRuntime* runtime) {
  return Make<Configuration>(ComPtr<IWinMLRuntime>(runtime));
}

}  // namespace owml
