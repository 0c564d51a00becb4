// One stage of a pipeline as plain data: what it runs, what is bound to it, how it was asked to be prepared.
// Owned by PipelineCore; the stage handles, Build and Run work on it under the rules of pipeline_core.h.
#pragma once

#include <WinMLRuntime.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/model.h"
#include "com/com_ptr.h"

namespace owml {

enum class OutputState {
  kUnpublished,
  kCallerBound,  // `bound` is the application's storage
  kRequested,    // the runtime's storage; `produced` once a run succeeded
};

struct OutputSlot {
  OutputState state = OutputState::kUnpublished;
  ComPtr<IWinMLTensor> bound;
  ComPtr<IWinMLTensor> produced;
};

// What Build settled for a model stage, with the strings that getters hand out.
struct BuildOutcome {
  SessionReport report;
  std::wstring engine_reason;
  std::wstring requested_provider;  // empty when none was asked for
  std::wstring selected_provider;   // empty when unknown
};

struct StageNode {
  size_t number = 0;
  std::string label;        // for messages: "stage 'decoder'", or "stage 2" for one without a name
  std::wstring debug_name;  // empty when none was given

  // Exactly one of the two.
  std::shared_ptr<const BackendModel> model;
  ComPtr<IWinMLProcessor> processor;

  ComPtr<IWinMLExecutionTarget> target;  // null = automatic until Build settles it
  std::optional<Schema> processor_schema;

  // Set through the option interfaces until Build.
  SessionOptions options;
  std::string context_group;          // empty when the stage is in none
  std::wstring draft_predictor_path;  // what GetDraftPredictorPath hands out

  // By position; grow on demand while the counts are unknown.
  std::vector<ComPtr<IWinMLTensor>> inputs;
  std::vector<OutputSlot> outputs;

  std::unique_ptr<BackendSession> session;  // of a built model stage
  BuildOutcome outcome;
  uint32_t pending_step = 0;  // tokens of the StepAllPositions that may still be committed
  bool step_pending = false;

  bool is_onnx() const { return model && model->is_onnx(); }

  // The schema as far as it is known: the session's, the declared one, the processor's, or null.
  const Schema* schema() const {
    if (session) return &session->schema();
    if (processor_schema) return &*processor_schema;
    return model->declared_schema();
  }
};

}  // namespace owml
