// Options of a stage: what is honoured, what is refused and why.
#include "backend/native/native_settings.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <utility>

#include "backend/native/native_fixture.h"
#include "base/cpu_info.h"

namespace owml::test {
namespace {

using native::NativeSettings;
using native::ResolveNativeSettings;

NativeSettings Resolve(const SessionOptions& options) {
  return ResolveNativeSettings(options, {"'a.gguf'", 4096, KvCacheType::kBF16});
}

HRESULT CodeOf(void (*change)(SessionOptions&)) {
  SessionOptions options;
  change(options);
  return FailureOf([&] { Resolve(options); }).code;
}

TEST(NativeSettingsTest, DefaultsFollowTheArtifactAndTheProcess) {
  const NativeSettings settings = Resolve({});
  EXPECT_EQ(settings.capacity, 4096u);
  EXPECT_EQ(settings.threads, std::min(UsableCpuCount(), 512u));
  EXPECT_GT(settings.batch_size, 0u);
}

TEST(NativeSettingsTest, NoMoreThreadsThanProcessorsAreStarted) {
  SessionOptions options;
  options.intra_op_threads = 512;
  EXPECT_EQ(Resolve(options).threads, std::min(UsableCpuCount(), 512u));
  options.intra_op_threads = 1;
  EXPECT_EQ(Resolve(options).threads, 1u);
}

TEST(NativeSettingsTest, ThreadsArePinnedOnlyWhereTheEnvironmentAsksForIt) {
  EXPECT_FALSE(Resolve({}).pin_threads);
  for (const auto& [value, pinned] : {std::pair{"1", true}, {"0", false}, {"", false}, {"yes", false}}) {
    ::setenv("OWML_PIN_THREADS", value, 1);
    EXPECT_EQ(Resolve({}).pin_threads, pinned) << value;
  }
  ::unsetenv("OWML_PIN_THREADS");
}

TEST(NativeSettingsTest, WhatTheEngineCannotDoIsNotSupported) {
  const HRESULT not_supported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
  const std::vector<void (*)(SessionOptions&)> changes = {
      [](SessionOptions& o) { o.device = DeviceKind::kGpu; },
      [](SessionOptions& o) { o.device = DeviceKind::kNpu; },
      [](SessionOptions& o) { o.provider = "CPUExecutionProvider"; },
      [](SessionOptions& o) { o.engine = Engine::kLlama; },
      [](SessionOptions& o) {
        o.session_config = {{"a", "b"}};
      },
      [](SessionOptions& o) {
        o.provider_options = {{"a", "b"}};
      },
      [](SessionOptions& o) {
        o.dimension_overrides = {{"a", 1}};
      },
      [](SessionOptions& o) { o.optimization_level = OptimizationLevel::kAll; },
      [](SessionOptions& o) { o.inter_op_threads = 1; },
      [](SessionOptions& o) { o.caller_owns_state = true; },
      [](SessionOptions& o) { o.kv_cache_type = KvCacheType::kF32; },
      [](SessionOptions& o) {
        o.draft_token_limit = 4;
        o.draft_predictor_enabled = true;
        o.draft_predictor_path = "draft.gguf";
      },
  };
  for (const auto change : changes) EXPECT_EQ(CodeOf(change), not_supported);
}

TEST(NativeSettingsTest, ValuesOutOfRangeAreInvalid) {
  const std::vector<void (*)(SessionOptions&)> changes = {
      [](SessionOptions& o) { o.intra_op_threads = 513; },
      [](SessionOptions& o) { o.batch_size = 65537; },
      [](SessionOptions& o) { o.sequence_capacity_hint = (uint64_t{1} << 30) + 1; },
      [](SessionOptions& o) {
        o.state_pairs = {{0, 0}};
      },
      [](SessionOptions& o) { o.draft_predictor_enabled = true; },
      [](SessionOptions& o) { o.draft_predictor_path = "draft.gguf"; },
  };
  for (const auto change : changes) EXPECT_EQ(CodeOf(change), E_INVALIDARG);
}

TEST(NativeSettingsTest, TheEngineMayBeNamed) {
  EXPECT_EQ(CodeOf([](SessionOptions& o) { o.engine = Engine::kNative; }), S_OK);
}

TEST(NativeSettingsTest, TheCacheHasTheTypeThatIsAskedForAndElseThatOfTheModel) {
  EXPECT_EQ(Resolve({}).cache_type, KvCacheType::kBF16);
  for (const KvCacheType type : {KvCacheType::kF16, KvCacheType::kBF16, KvCacheType::kQ8_0}) {
    SessionOptions options;
    options.kv_cache_type = type;
    EXPECT_EQ(Resolve(options).cache_type, type);
  }
}

}  // namespace
}  // namespace owml::test
