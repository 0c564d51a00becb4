// One execution of a built pipeline, and the reset of what executions leave behind.
// Called by runtime/pipeline.cpp.
#pragma once

#include "runtime/pipeline_core.h"

namespace owml {

// Runs every stage once, in order. Throws ERROR_BUSY, E_INVALIDARG for an input without a value, what a tensor's lock
// answers, or the failure of a stage. Runtime-owned outputs and feedback values change only when the whole run
// succeeded.
void RunPipeline(PipelineCore& core);

// Drops feedback values and resets every stateful session; bindings stay. Every stage is reset even when one fails; the
// first failure is thrown.
void ResetPipeline(PipelineCore& core);

}  // namespace owml
