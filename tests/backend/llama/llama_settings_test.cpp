// Options that the llama.cpp backend cannot honour are refused, never ignored.
#include "backend/llama/llama_settings.h"

#include <gmock/gmock.h>

#include "backend/llama/llama_fixture.h"
#include "base/cpu_info.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

Failure Refusal(const SessionOptions& options, const LlamaModelFacts& facts = {"'m.gguf'", 4096, 0}) {
  return FailureOf([&] { ResolveLlamaSettings(options, facts); });
}

TEST(LlamaSettingsTest, DefaultsFollowTheProcessAndTheArtifact) {
  const LlamaSettings settings = ResolveLlamaSettings({}, {"'m.gguf'", 4096, 0});
  EXPECT_EQ(settings.threads, UsableCpuCount());
  EXPECT_EQ(settings.capacity, 4096u);
  EXPECT_EQ(settings.batch_size, 2048u);
  EXPECT_EQ(settings.cache_type, KvCacheType::kF16);
  EXPECT_EQ(ResolveLlamaSettings({}, {"'m.gguf'", std::nullopt, 0}).capacity, 8192u);
}

TEST(LlamaSettingsTest, OptionsOfOnnxRuntimeAreRefusedByName) {
  SessionOptions options;
  options.session_config = {{"session.x", "1"}};
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  EXPECT_THAT(Refusal(options).sentence, HasSubstr("session.x"));
  options = {};
  options.provider_options = {{"device_id", "1"}};
  EXPECT_THAT(Refusal(options).sentence, HasSubstr("device_id"));
  options = {};
  options.dimension_overrides = {{"batch", 1}};
  EXPECT_THAT(Refusal(options).sentence, HasSubstr("batch"));
  options = {};
  options.provider = "OpenVINOExecutionProvider";
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  EXPECT_THAT(Refusal(options).sentence, HasSubstr("OpenVINOExecutionProvider"));
  options = {};
  options.optimization_level = OptimizationLevel::kAll;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  options = {};
  options.inter_op_threads = 2;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
}

TEST(LlamaSettingsTest, StateTensorsDoNotExist) {
  SessionOptions options;
  options.caller_owns_state = true;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  options = {};
  options.state_pairs = {{1, 1}};
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
}

TEST(LlamaSettingsTest, NpuAndNativeEngineAreNotSupported) {
  SessionOptions options;
  options.device = DeviceKind::kNpu;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  options = {};
  options.engine = Engine::kNative;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
}

TEST(LlamaSettingsTest, DraftOptionsMustGoTogether) {
  SessionOptions options;
  options.draft_predictor_enabled = true;
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
  options = {};
  options.draft_predictor_path = "draft.gguf";
  options.draft_token_limit = 4;
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
  options.draft_predictor_enabled = true;
  EXPECT_EQ(Refusal(options).code, kNotSupported);
  options.draft_predictor_path.clear();
  EXPECT_EQ(Refusal(options).code, S_OK);
  EXPECT_EQ(Refusal(options, {"'m.gguf'", 4096, 1}).code, kNotSupported);
}

TEST(LlamaSettingsTest, SizesBeyondReasonAreRefused) {
  SessionOptions options;
  options.batch_size = 70000;
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
  options = {};
  options.intra_op_threads = 513;
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
  options = {};
  options.sequence_capacity_hint = UINT64_MAX;
  EXPECT_EQ(Refusal(options).code, E_INVALIDARG);
}

TEST(LlamaSettingsTest, DraftLimitIsAtMost16) {
  SessionOptions options;
  options.draft_token_limit = 1000;
  EXPECT_EQ(ResolveLlamaSettings(options, {"'m.gguf'", 4096, 0}).draft_limit, 16u);
}

}  // namespace
}  // namespace owml::test
