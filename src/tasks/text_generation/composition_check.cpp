// Completeness first, then what must fit together. The endpoints are checked by making what will use them.
// See composition.h.
#include <string>

#include "com/guard.h"
#include "tasks/text_generation/composition.h"
#include "tasks/text_generation/generation_pipelines.h"

namespace owml {
namespace {

void RequireSet(const void* part, const std::string& name) {
  Require(part != nullptr, E_NOT_VALID_STATE, "the configuration is incomplete: " + name + " is not set");
}

void RequirePhase(const Composition& composition, WINML_TEXT_GENERATION_PIPELINE_PHASE phase) {
  const PhaseParts& parts = composition.phases[phase];
  const std::string name = std::string("the ") + PhaseName(phase);
  RequireSet(parts.pipeline.Get(), name + " pipeline");
  RequireSet(parts.token_input.stage.Get(), name + " token input");
  RequireSet(parts.output.stage.Get(), name + " output");
}

void RefusePhase(const Composition& composition, WINML_TEXT_GENERATION_PIPELINE_PHASE phase, const char* mode) {
  Require(composition.phases[phase].empty(), E_INVALIDARG,
          std::string("the ") + PhaseName(phase) + " phase is configured, but the mode is " + mode);
}

void CheckComplete(const Composition& composition) {
  if (composition.unified()) {
    RequirePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED);
    RequireSet(composition.state_owner.Get(), "the state owner stage");
  } else {
    RequirePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL);
    RequirePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE);
    Require(composition.logical_capacity != 0, E_NOT_VALID_STATE,
            "the configuration is incomplete: the logical capacity is not set");
  }
  RequireSet(composition.token_target.Get(), "the token target");
  RequireSet(composition.tokenizer.Get(), "the tokenizer");
}

void CheckModes(const Composition& composition) {
  if (composition.unified()) {
    RefusePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL, "UNIFIED");
    RefusePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE, "UNIFIED");
    Require(!composition.feedback(), E_INVALIDARG, "PIPELINE_FEEDBACK needs the mode PREFILL_DECODE");
    return;
  }
  RefusePhase(composition, WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED, "PREFILL_DECODE");
  Require(!SameObject(composition.prompt_phase().pipeline.Get(), composition.decode_phase().pipeline.Get()),
          E_INVALIDARG, "the prefill and the decode pipeline are the same; one pipeline for both is the mode UNIFIED");
  Require(!composition.feedback() ||
              composition.decode_phase().output_kind == WINML_TEXT_GENERATION_OUTPUT_KIND_SAMPLED_TOKEN,
          E_INVALIDARG, "PIPELINE_FEEDBACK needs a decode output that holds sampled tokens");
}

void CheckDraft(const Composition& composition) {
  const auto method = composition.speculative.method;
  Require(method >= WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE &&
              method <= WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP,
          E_INVALIDARG, "the speculative method " + std::to_string(method) + " is unknown");
  if (method != WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL) return;
  Require(composition.draft.pipeline != nullptr, E_INVALIDARG, "DRAFT_MODEL needs a draft pipeline");
  Require(!SameObject(composition.draft.pipeline.Get(), composition.decode_phase().pipeline.Get()), E_INVALIDARG,
          "the draft pipeline is the target pipeline itself");
}

}  // namespace

void CheckComposition(const Composition& composition) {
  CheckComplete(composition);
  CheckModes(composition);
  CheckDraft(composition);
  GenerationPipelines(composition).CheckCapacity();
}

}  // namespace owml
