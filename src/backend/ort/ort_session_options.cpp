// One function per group of options; the order does not matter to ONNX Runtime.
// Two session entries are no configuration keys of ONNX Runtime and go to its setters: session.log_severity_level (a
// number from 0, verbose, to 4, fatal) and session.enable_profiling (the prefix of the profile's path).
#include "backend/ort/ort_session_options.h"

#include <string>
#include <vector>

#include "backend/ort/ort_devices.h"
#include "backend/ort/ort_log.h"
#include "base/cpu_info.h"
#include "base/error.h"

namespace owml {
namespace {

constexpr char kLogSeverityKey[] = "session.log_severity_level";
constexpr char kProfilingKey[] = "session.enable_profiling";

void RefuseForeignOptions(const SessionOptions& options) {
  const auto refuse = [](bool set, const char* what) {
    if (set) throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), std::string("an ONNX stage has no ") + what);
  };
  refuse(options.engine != Engine::kAuto, "choice of engine");
  refuse(options.kv_cache_type != KvCacheType::kDefault, "key-value cache type");
  refuse(options.batch_size != 0, "batch size");
  if (options.draft_predictor_enabled && options.draft_token_limit == 0) {
    throw Error(E_INVALIDARG, "the draft predictor is enabled while the draft token limit is 0");
  }
  if (!options.draft_predictor_path.empty()) {
    if (!options.draft_predictor_enabled) {
      throw Error(E_INVALIDARG, "a draft predictor path is set while the draft predictor is not enabled");
    }
    refuse(true, "companion draft predictor");
  }
}

int ThreadCount(uint32_t wanted, const char* which) {
  if (wanted > INT32_MAX)
    throw Error(E_INVALIDARG, std::string(which) + " thread count " + std::to_string(wanted) + " is too large");
  return static_cast<int>(wanted);
}

void SetThreads(OrtSessionOptions* target, const SessionOptions& options, SessionReport& report) {
  report.intra_op_threads = options.intra_op_threads ? options.intra_op_threads : UsableCpuCount();
  report.inter_op_threads = options.inter_op_threads ? options.inter_op_threads : 1;
  Check(Ort().SetIntraOpNumThreads(target, ThreadCount(report.intra_op_threads, "the intra-operator")),
        "the thread count was refused");
  Check(Ort().SetInterOpNumThreads(target, ThreadCount(report.inter_op_threads, "the inter-operator")),
        "the thread count was refused");
  // ONNX Runtime looks at the second count in its parallel mode only.
  if (report.inter_op_threads > 1)
    Check(Ort().SetSessionExecutionMode(target, ORT_PARALLEL), "parallel execution was refused");
}

void SetOptimization(OrtSessionOptions* target, const SessionOptions& options, SessionReport& report) {
  report.optimization_level =
      options.optimization_level == OptimizationLevel::kDefault ? OptimizationLevel::kAll : options.optimization_level;
  GraphOptimizationLevel level = ORT_ENABLE_ALL;
  switch (report.optimization_level) {
    case OptimizationLevel::kDisabled:
      level = ORT_DISABLE_ALL;
      break;
    case OptimizationLevel::kBasic:
      level = ORT_ENABLE_BASIC;
      break;
    case OptimizationLevel::kExtended:
      level = ORT_ENABLE_EXTENDED;
      break;
    default:
      break;
  }
  Check(Ort().SetSessionGraphOptimizationLevel(target, level), "the optimisation level was refused");
}

void SetDimensionOverrides(OrtSessionOptions* target, const SessionOptions& options) {
  for (const auto& [name, extent] : options.dimension_overrides) {
    if (name.empty() || extent <= 0) {
      throw Error(E_INVALIDARG, "the dimension '" + name + "' cannot be fixed to " + std::to_string(extent));
    }
    Check(Ort().AddFreeDimensionOverrideByName(target, name.c_str(), extent), "a dimension override was refused");
  }
}

void SetLogSeverity(OrtSessionOptions* target, const std::string& value) {
  if (value.size() != 1 || value[0] < '0' || value[0] > '4') {
    throw Error(E_INVALIDARG, std::string("the session entry '") + kLogSeverityKey +
                                  "' takes a number from 0 to 4, not '" + value + "'");
  }
  Check(Ort().SetSessionLogSeverityLevel(target, value[0] - '0'), "the log severity was refused");
}

void SetConfiguration(OrtSessionOptions* target, const SessionOptions& options, ModelFormat format) {
  Check(Ort().SetUserLoggingFunction(target, WriteOrtLog, nullptr), "the log function was refused");
  Check(Ort().SetSessionLogSeverityLevel(target, OrtSeverityForLog()), "the log severity was refused");
  // The registry decided by extension or content; ONNX Runtime shall not decide again.
  Check(Ort().AddSessionConfigEntry(target, "session.load_model_format",
                                    format == ModelFormat::kOrtFlatbuffer ? "ORT" : "ONNX"),
        "the model format was refused");
  for (const auto& [key, value] : options.session_config) {
    if (key == kLogSeverityKey) {
      SetLogSeverity(target, value);
    } else if (key == kProfilingKey) {
      Check(Ort().EnableProfiling(target, value.c_str()), "profiling was refused");
    } else {
      const std::string doing = "the session entry '" + key + "' was refused";
      Check(Ort().AddSessionConfigEntry(target, key.c_str(), value.c_str()), doing.c_str());
    }
  }
}

void SetPlacement(OrtSessionOptions* target, const SessionOptions& options, SessionReport& report) {
  if (!options.provider_options.empty() && options.provider.empty()) {
    throw Error(E_INVALIDARG, "the provider option '" + options.provider_options.front().first +
                                  "' is set on a stage that is not pinned to an execution provider");
  }
  report.device = options.device;
  const bool plain_cpu = options.device == DeviceKind::kCpu && options.device_id.empty() &&
                         options.provider_options.empty() &&
                         (options.provider.empty() || options.provider == kCpuProvider);
  if (plain_cpu) {
    report.provider = kCpuProvider;
    return;
  }
  const OrtDevice device = SelectOrtDevice(options);
  report.provider = device.provider;
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : options.provider_options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const std::string doing = "the provider '" + device.provider + "' could not be added";
  Check(Ort().SessionOptionsAppendExecutionProvider_V2(target, LoadedOrtLibrary().environment, &device.handle, 1,
                                                       keys.data(), values.data(), keys.size()),
        doing.c_str());
}

}  // namespace

OrtSessionSetup MakeSessionSetup(const SessionOptions& options, ModelFormat format) {
  RefuseForeignOptions(options);
  const OrtLibrary& library = LoadedOrtLibrary();
  OrtSessionSetup setup;
  setup.options = Adopt<OrtSessionOptionsPtr>(Ort().CreateSessionOptions, "session options could not be made");
  setup.report.engine = "onnxruntime " + library.version;
  setup.report.engine_reason = "ONNX models run on ONNX Runtime, here the one in " + library.path;
  SetThreads(setup.options.get(), options, setup.report);
  SetOptimization(setup.options.get(), options, setup.report);
  SetDimensionOverrides(setup.options.get(), options);
  SetConfiguration(setup.options.get(), options, format);
  SetPlacement(setup.options.get(), options, setup.report);
  return setup;
}

}  // namespace owml
