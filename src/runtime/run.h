// One execution of a built pipeline, and the reset of what executions leave behind.
// Called by runtime/pipeline.cpp.
#pragma once

#include <openwinml/pipeline_best_tokens.h>

#include <span>

#include "runtime/pipeline_core.h"

namespace owml {

// Runs every stage once, in order. Throws ERROR_BUSY, E_INVALIDARG for an input without a value, what a tensor's lock
// answers, or the failure of a stage. Runtime-owned outputs and feedback values change only when the whole run
// succeeded.
void RunPipeline(PipelineCore& core);

// RunPipeline with the highest logits in place of outputs, as backend/best_tokens.h says, for a pipeline whose plan
// allows as many. Throws E_NOT_VALID_STATE also when an output is bound or requested. `best` is filled when nothing can
// fail any more.
void RunForBest(PipelineCore& core, std::span<OWML_TOKEN_LOGIT> best);

// Drops feedback values and resets every stateful session; bindings stay. Every stage is reset even when one fails; the
// first failure is thrown.
void ResetPipeline(PipelineCore& core);

}  // namespace owml
