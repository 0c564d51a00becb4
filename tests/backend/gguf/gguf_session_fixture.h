// One suite over every engine that runs GGUF models.
// Used by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/llama/llama_fixture.h"
#include "backend/native/native_backend.h"

namespace owml::test {

struct GgufEngine {
  const char* name;
  std::shared_ptr<const Backend> (*make)();
  float tolerance;  // of logits on different ways to the same sequence; 0: bit for bit
};

inline constexpr GgufEngine kGgufEngines[] = {{"llama", MakeLlamaBackend, 1e-3f}, {"native", MakeNativeBackend, 0}};

inline std::string EngineName(const testing::TestParamInfo<GgufEngine>& engine) { return engine.param.name; }

inline const std::vector<int32_t> kPrompt = {1, 75, 104, 111, 111, 114, 35, 90, 114, 117, 111, 103};

// A tiny model on disk, and sessions on it.
class GgufSessionTest : public testing::TestWithParam<GgufEngine> {
 protected:
  void SetUp() override { model_ = Load(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }

  std::shared_ptr<const BackendModel> Load(const std::filesystem::path& path) const {
    return GetParam().make()->Load(FileSource(path), ModelFormat::kGguf);
  }
  std::unique_ptr<BackendSession> Session(const SessionOptions& options = {}) const {
    return SessionOn(*model_, options);
  }
  static void ExpectSame(std::span<const float> actual, std::span<const float> expected) {
    ExpectClose(actual, expected, GetParam().tolerance);
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BackendModel> model_;
};

}  // namespace owml::test
