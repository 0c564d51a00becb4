// What a configuration holds: pipelines, where tokens go in and results come out, and what goes with them.
// Filled by the configuration, checked as a whole, then used by a session.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLTextGenerationTask.h>
#include <WinMLTokenizer.h>

#include <array>
#include <vector>

#include "com/com_ptr.h"

namespace owml {

struct StagePort {
  ComPtr<IWinMLStage> stage;  // null = not set
  UINT32 index = 0;
};

struct CallerOutput {
  StagePort port;
  ComPtr<IWinMLTensor> tensor;
};

struct PhaseParts {
  ComPtr<IWinMLPipeline> pipeline;
  StagePort token_input;
  StagePort output;
  WINML_TEXT_GENERATION_OUTPUT_KIND output_kind = WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
  std::vector<CallerOutput> caller_outputs;

  bool empty() const { return !pipeline && !token_input.stage && !output.stage && caller_outputs.empty(); }
};

struct DraftParts {
  ComPtr<IWinMLPipeline> pipeline;
  StagePort token_input;
  StagePort output;
  ComPtr<IWinMLStage> state_owner;
};

struct Composition {
  WINML_TEXT_GENERATION_CONFIGURATION_MODE mode = WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED;
  std::array<PhaseParts, 3> phases;  // by WINML_TEXT_GENERATION_PIPELINE_PHASE
  ComPtr<IWinMLStage> state_owner;
  ComPtr<IWinMLExecutionTarget> token_target;
  ComPtr<IWinMLTokenizer> tokenizer;
  WINML_TEXT_GENERATION_DECODE_INPUT_MODE decode_input_mode = WINML_TEXT_GENERATION_DECODE_INPUT_MODE_CALLER_BOUND;
  UINT64 logical_capacity = 0;  // 0 = not set
  WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS speculative = {WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE, 0};
  DraftParts draft;

  bool unified() const { return mode == WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED; }
  bool feedback() const { return decode_input_mode == WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK; }
  // The phases that the mode uses; the same one twice when unified.
  const PhaseParts& prompt_phase() const {
    return phases[unified() ? WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED
                            : WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL];
  }
  const PhaseParts& decode_phase() const {
    return phases[unified() ? WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED
                            : WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE];
  }
};

// "unified", "prefill", "decode", as sentences name a phase.
const char* PhaseName(WINML_TEXT_GENERATION_PIPELINE_PHASE phase);

// Throws E_NOT_VALID_STATE with the name of what is missing, E_INVALIDARG with what does not fit together, or what a
// stage answers.
void CheckComposition(const Composition& composition);

}  // namespace owml
