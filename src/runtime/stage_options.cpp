// Tuning options: what was set, and after Build what is in effect.
// See stage_options.h.
#include "runtime/stage_options.h"

#include "com/guard.h"

namespace owml {
namespace {

static_assert(static_cast<int>(Engine::kNative) == OWML_ENGINE_NATIVE);
static_assert(static_cast<int>(KvCacheType::kF32) == OWML_KV_CACHE_TYPE_F32);
static_assert(static_cast<int>(OptimizationLevel::kAll) == OWML_ORT_OPTIMIZATION_LEVEL_ALL);

template <class Value>
void Set(const StageRef& stage, Value SessionOptions::*field, Value value) {
  EditOptions(stage, [&](StageNode& node) { node.options.*field = value; });
}

// The two structures name their fields alike.
template <class Value>
Value Get(const StageRef& stage, Value SessionOptions::*asked, Value SessionReport::*in_effect) {
  return ReadNode(stage, [&](const StageNode& node) {
    return node.session ? node.outcome.report.*in_effect : node.options.*asked;
  });
}

template <class Enum>
Enum Checked(int value, int last, const char* name) {
  Require(value >= 0 && value <= last, E_INVALIDARG,
          std::string(name) + " " + std::to_string(value) + " is no such value");
  return static_cast<Enum>(value);
}

}  // namespace

HRESULT StageOptionMethods::SetIntraOpThreadCount(UINT32 count) noexcept {
  return Guard("IOwmlStageOptions::SetIntraOpThreadCount",
               [&] { Set(stage(), &SessionOptions::intra_op_threads, count); });
}

HRESULT StageOptionMethods::GetIntraOpThreadCount(UINT32* count) noexcept {
  return Guard("IOwmlStageOptions::GetIntraOpThreadCount", [&] {
    RequireOut(count, "count");
    *count = Get(stage(), &SessionOptions::intra_op_threads, &SessionReport::intra_op_threads);
  });
}

HRESULT StageOptionMethods::SetInterOpThreadCount(UINT32 count) noexcept {
  return Guard("IOwmlStageOptions::SetInterOpThreadCount",
               [&] { Set(stage(), &SessionOptions::inter_op_threads, count); });
}

HRESULT StageOptionMethods::GetInterOpThreadCount(UINT32* count) noexcept {
  return Guard("IOwmlStageOptions::GetInterOpThreadCount", [&] {
    RequireOut(count, "count");
    *count = Get(stage(), &SessionOptions::inter_op_threads, &SessionReport::inter_op_threads);
  });
}

HRESULT StageOptionMethods::SetEngine(OWML_ENGINE engine) noexcept {
  return Guard("IOwmlStageOptions::SetEngine",
               [&] { Set(stage(), &SessionOptions::engine, Checked<Engine>(engine, OWML_ENGINE_NATIVE, "engine")); });
}

HRESULT StageOptionMethods::GetEngine(OWML_ENGINE* engine) noexcept {
  return Guard("IOwmlStageOptions::GetEngine", [&] {
    RequireOut(engine, "engine");
    *engine = ReadNode(stage(), [](const StageNode& node) {
      if (!node.session) return static_cast<OWML_ENGINE>(node.options.engine);
      return node.is_onnx() ? OWML_ENGINE_ORT : static_cast<OWML_ENGINE>(node.outcome.report.engine_kind);
    });
  });
}

HRESULT StageOptionMethods::GetEngineReason(LPCWSTR* reason) noexcept {
  return Guard("IOwmlStageOptions::GetEngineReason", [&] {
    RequireOut(reason, "reason");
    RequireBuilt(*stage().core);
    *reason = stage().node->outcome.engine_reason.c_str();
  });
}

HRESULT StageOptionMethods::SetKvCacheType(OWML_KV_CACHE_TYPE type) noexcept {
  return Guard("IOwmlStageOptions::SetKvCacheType", [&] {
    Set(stage(), &SessionOptions::kv_cache_type, Checked<KvCacheType>(type, OWML_KV_CACHE_TYPE_F32, "type"));
  });
}

HRESULT StageOptionMethods::GetKvCacheType(OWML_KV_CACHE_TYPE* type) noexcept {
  return Guard("IOwmlStageOptions::GetKvCacheType", [&] {
    RequireOut(type, "type");
    *type =
        static_cast<OWML_KV_CACHE_TYPE>(Get(stage(), &SessionOptions::kv_cache_type, &SessionReport::kv_cache_type));
  });
}

HRESULT StageOptionMethods::SetBatchSize(UINT32 tokenCount) noexcept {
  return Guard("IOwmlStageOptions::SetBatchSize", [&] { Set(stage(), &SessionOptions::batch_size, tokenCount); });
}

HRESULT StageOptionMethods::GetBatchSize(UINT32* tokenCount) noexcept {
  return Guard("IOwmlStageOptions::GetBatchSize", [&] {
    RequireOut(tokenCount, "tokenCount");
    *tokenCount = Get(stage(), &SessionOptions::batch_size, &SessionReport::batch_size);
  });
}

HRESULT StageOptionMethods::SetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL level) noexcept {
  return Guard("IOwmlStageOptions::SetOrtOptimizationLevel", [&] {
    Set(stage(), &SessionOptions::optimization_level,
        Checked<OptimizationLevel>(level, OWML_ORT_OPTIMIZATION_LEVEL_ALL, "level"));
  });
}

HRESULT StageOptionMethods::GetOrtOptimizationLevel(OWML_ORT_OPTIMIZATION_LEVEL* level) noexcept {
  return Guard("IOwmlStageOptions::GetOrtOptimizationLevel", [&] {
    RequireOut(level, "level");
    *level = static_cast<OWML_ORT_OPTIMIZATION_LEVEL>(
        Get(stage(), &SessionOptions::optimization_level, &SessionReport::optimization_level));
  });
}

}  // namespace owml
