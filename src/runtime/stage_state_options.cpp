// State options of a model stage.
// See stage_state_options.h.
#include "runtime/stage_state_options.h"

#include "com/guard.h"
#include "com/wide.h"
#include "runtime/build.h"

namespace owml {

HRESULT StageStateOptionMethods::SetSequenceCapacityHint(UINT64 capacity) noexcept {
  return Guard("IWinMLStatefulStageOptions::SetSequenceCapacityHint",
               [&] { EditOptions(stage(), [&](StageNode& node) { node.options.sequence_capacity_hint = capacity; }); });
}

HRESULT StageStateOptionMethods::GetSequenceCapacityHint(UINT64* capacity) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetSequenceCapacityHint", [&] {
    RequireOut(capacity, "capacity");
    *capacity = ReadNode(stage(), [](const StageNode& node) { return node.options.sequence_capacity_hint; });
  });
}

HRESULT StageStateOptionMethods::SetCallerOwnsStateTensors(BOOL value) noexcept {
  return Guard("IWinMLStatefulStageOptions::SetCallerOwnsStateTensors", [&] {
    EditOptions(stage(), [&](StageNode& node) { node.options.caller_owns_state = value != FALSE; });
  });
}

HRESULT StageStateOptionMethods::GetCallerOwnsStateTensors(BOOL* value) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetCallerOwnsStateTensors", [&] {
    RequireOut(value, "value");
    *value = ReadNode(stage(), [](const StageNode& node) { return node.options.caller_owns_state; });
  });
}

HRESULT StageStateOptionMethods::AddStateTensorPair(UINT32 inputIndex, UINT32 outputIndex) noexcept {
  return Guard("IWinMLStatefulStageOptions::AddStateTensorPair", [&] {
    EditOptions(stage(), [&](StageNode& node) {
      if (const Schema* schema = node.schema()) {
        Require(inputIndex < schema->inputs.size(), E_INVALIDARG,
                SlotLabel("input", inputIndex, node) + " does not exist");
        Require(outputIndex < schema->outputs.size(), E_INVALIDARG,
                SlotLabel("output", outputIndex, node) + " does not exist");
      }
      for (const StatePair& pair : node.options.state_pairs) {
        Require(pair.input != inputIndex, E_INVALIDARG,
                SlotLabel("input", inputIndex, node) + " is in a state pair already");
        Require(pair.output != outputIndex, E_INVALIDARG,
                SlotLabel("output", outputIndex, node) + " is in a state pair already");
      }
      node.options.state_pairs.push_back({inputIndex, outputIndex});
    });
  });
}

HRESULT StageStateOptionMethods::ClearStateTensorPairs() noexcept {
  return Guard("IWinMLStatefulStageOptions::ClearStateTensorPairs",
               [&] { EditOptions(stage(), [](StageNode& node) { node.options.state_pairs.clear(); }); });
}

HRESULT StageStateOptionMethods::GetStateTensorPairCount(UINT32* count) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetStateTensorPairCount", [&] {
    RequireOut(count, "count");
    const size_t pairs = ReadNode(stage(), [](const StageNode& node) { return node.options.state_pairs.size(); });
    Require(pairs <= UINT32_MAX, HRESULT_FROM_WIN32(ERROR_ARITHMETIC_OVERFLOW), "the pair count does not fit 32 bits");
    *count = static_cast<UINT32>(pairs);
  });
}

HRESULT StageStateOptionMethods::GetStateTensorPair(UINT32 pairIndex, UINT32* inputIndex,
                                                    UINT32* outputIndex) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetStateTensorPair", [&] {
    if (inputIndex) *inputIndex = 0;
    if (outputIndex) *outputIndex = 0;
    RequirePointer(inputIndex, "inputIndex");
    RequirePointer(outputIndex, "outputIndex");
    const StatePair pair = ReadNode(stage(), [&](const StageNode& node) {
      const std::vector<StatePair>& pairs = node.options.state_pairs;
      Require(pairIndex < pairs.size(), E_BOUNDS,
              "pair " + std::to_string(pairIndex) + " does not exist; there are " + std::to_string(pairs.size()));
      return pairs[pairIndex];
    });
    *inputIndex = pair.input;
    *outputIndex = pair.output;
  });
}

HRESULT StageStateOptionMethods::SetDraftTokenLimitHint(UINT32 count) noexcept {
  return Guard("IWinMLStatefulStageOptions::SetDraftTokenLimitHint",
               [&] { EditOptions(stage(), [&](StageNode& node) { node.options.draft_token_limit = count; }); });
}

HRESULT StageStateOptionMethods::GetDraftTokenLimitHint(UINT32* count) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetDraftTokenLimitHint", [&] {
    RequireOut(count, "count");
    *count = ReadNode(stage(), [](const StageNode& node) { return node.options.draft_token_limit; });
  });
}

HRESULT StageStateOptionMethods::SetModelDraftPredictorEnabled(BOOL enabled) noexcept {
  return Guard("IWinMLStatefulStageOptions::SetModelDraftPredictorEnabled", [&] {
    EditOptions(stage(), [&](StageNode& node) { node.options.draft_predictor_enabled = enabled != FALSE; });
  });
}

HRESULT StageStateOptionMethods::GetModelDraftPredictorEnabled(BOOL* enabled) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetModelDraftPredictorEnabled", [&] {
    RequireOut(enabled, "enabled");
    *enabled = ReadNode(stage(), [](const StageNode& node) { return node.options.draft_predictor_enabled; });
  });
}

HRESULT StageStateOptionMethods::SetDraftPredictorPath(LPCWSTR path) noexcept {
  return Guard("IWinMLStatefulStageOptions::SetDraftPredictorPath", [&] {
    std::wstring wide = path ? path : L"";
    std::filesystem::path native = ToUtf8(wide);
    EditOptions(stage(), [&](StageNode& node) {
      node.options.draft_predictor_path = std::move(native);
      node.draft_predictor_path = std::move(wide);
    });
  });
}

HRESULT StageStateOptionMethods::GetDraftPredictorPath(LPCWSTR* path) noexcept {
  return Guard("IWinMLStatefulStageOptions::GetDraftPredictorPath", [&] {
    RequireOut(path, "path");
    *path = ReadNode(stage(), [](const StageNode& node) {
      return node.draft_predictor_path.empty() ? nullptr : node.draft_predictor_path.c_str();
    });
  });
}

}  // namespace owml
