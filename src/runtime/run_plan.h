// What Build settles about running a pipeline, and the memory that every run reuses.
// Made by runtime/build.cpp, worked through by runtime/run.cpp.
#pragma once

#include <string>
#include <vector>

#include "backend/session.h"
#include "com/com_ptr.h"
#include "runtime/graph.h"
#include "tensor/tensor_access.h"

namespace owml {

// The result of one output. Either a buffer of the backend's, or only a tensor: the caller's storage, or what a
// processor made. Once a processor or the application has been given a tensor over a buffer, the bytes are read through
// that tensor's lock.
struct StageValue {
  bool has_buffer = false;
  TensorBuffer buffer;
  ComPtr<IWinMLTensor> tensor;

  bool empty() const { return !has_buffer && !tensor; }
};

// Where an input's value comes from in every run.
struct InputFeed {
  enum class Kind { kBinding, kEdge, kFeedback };

  Kind kind = Kind::kBinding;
  size_t source = 0;    // kEdge: stage
  uint32_t output = 0;  // kEdge
  size_t retained = 0;  // kFeedback: index into RunPlan::retained
};

struct StagePlan {
  size_t stage = 0;
  std::vector<InputFeed> inputs;
  std::vector<bool> consumed;             // by output: an edge of either kind takes it
  std::vector<std::string> input_labels;  // for messages: "input 0 of stage 'decoder'"
  std::vector<std::string> output_labels;

  // Scratch of a run; the capacities stay.
  std::vector<InputValue> input_values;
  std::vector<OutputValue> output_values;
  std::vector<StageValue> results;  // by output
  std::vector<TensorAccess> accesses;
  std::vector<IWinMLTensor*> input_tensors;   // borrowed, processors only
  std::vector<IWinMLTensor*> output_tensors;  // processors only
};

struct RunPlan {
  std::vector<size_t> order;
  std::vector<StagePlan> stages;     // by stage number
  std::vector<Edge> feedback;        // the graph's feedback edges
  std::vector<StageValue> retained;  // by feedback edge; empty before the first successful run and after a reset
  std::vector<StageValue> next;      // scratch: becomes `retained` when the run succeeds
  std::vector<ComPtr<IWinMLTensor>> publications;  // scratch
  uint32_t max_best = 0;                           // most that RunForBest gives; 0 = it cannot run the pipeline
  std::vector<TokenLogit> best;                    // scratch of it
};

}  // namespace owml
