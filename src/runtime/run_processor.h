// The call wrapper around IWinMLProcessor: captures its schema when it is added, checks both sides of every Execute.
// Used by the builder and the run loop; a processor may be an application's object and is not trusted.
#pragma once

#include "backend/schema.h"
#include "runtime/run_plan.h"
#include "runtime/stage_node.h"

namespace owml {

// The processor's descriptors, copied. Throws what a getter answers, or E_INVALIDARG for counts, types or shapes that
// no stage can have, free extents included; the sentence starts with `label`.
Schema CaptureProcessorSchema(IWinMLProcessor* processor, const std::string& label);

// Executes the node's processor on plan.input_tensors and the node's bound outputs, and leaves its outputs in
// plan.results. Throws E_INVALIDARG before the call when an input or a bound output does not fit its descriptor, the
// processor's own failure, or E_UNEXPECTED when it broke the output rules.
void CallProcessor(const StageNode& node, StagePlan& plan);

}  // namespace owml
