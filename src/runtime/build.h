// Build: from collected stages and edges to a pipeline that can run.
// Called by runtime/pipeline_builder.cpp.
#pragma once

#include "runtime/pipeline_core.h"

namespace owml {

// Orders the graph, prepares every model for its target and checks edges and bindings against the schemas that come
// out. Throws E_INVALIDARG, ERROR_NOT_SUPPORTED, ERROR_BUSY or a backend's error, and then leaves the core as it was.
void BuildPipeline(PipelineCore& core);

// "input 3 of stage 'decoder'"; `side` is "input" or "output".
std::string SlotLabel(const char* side, size_t index, const StageNode& node);

// Throws E_INVALIDARG when the tensor cannot be the slot's value; nothing is checked while the schema is not known.
void RequireBindable(const StageNode& node, const char* side, size_t index, const Schema* schema, IWinMLTensor* tensor);

}  // namespace owml
