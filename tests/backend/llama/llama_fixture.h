// Loading and running GGUF models through the llama.cpp backend, without the runtime above it.
// Used by the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/llama/llama_backend.h"
#include "base/error.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {

inline ModelSource FileSource(const std::filesystem::path& path) {
  ModelSource source;
  source.path = path;
  return source;
}

inline std::shared_ptr<const BackendModel> LoadGguf(const std::filesystem::path& path) {
  return MakeLlamaBackend()->Load(FileSource(path), ModelFormat::kGguf);
}

inline TensorView TokenView(std::vector<int32_t>& tokens) {
  return {
      DType::kInt32, {1, tokens.size()}, reinterpret_cast<std::byte*>(tokens.data()), tokens.size() * sizeof(int32_t)};
}

// Feeds tokens and returns the logits of the last one.
inline std::vector<float> RunTokens(BackendSession& session, std::vector<int32_t> tokens) {
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  session.Run({&input, 1}, {&output, 1});
  const auto* first = reinterpret_cast<const float*>(output.produced.view.data);
  return {first, first + output.produced.view.bytes / sizeof(float)};
}

inline int32_t Best(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

inline void ExpectClose(std::span<const float> actual, std::span<const float> expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], tolerance) << "at " << i;
}

// One thread unless the test says otherwise: the models are tiny, and llama.cpp's threads wait for each other by
// spinning.
inline std::unique_ptr<BackendSession> SessionOn(const BackendModel& model, SessionOptions options = {}) {
  if (options.intra_op_threads == 0) options.intra_op_threads = 1;
  return model.CreateSession(options);
}

// The HRESULT and sentence of a call that throws Error; S_OK and nothing where it does not throw.
struct Failure {
  HRESULT code = S_OK;
  std::string sentence;
};

template <class Call>
Failure FailureOf(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

// A tiny model on disk, and sessions on it.
class TinyLlamaTest : public testing::Test {
 protected:
  void SetUp() override { model_ = LoadGguf(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }

  std::unique_ptr<BackendSession> Session(const SessionOptions& options = {}) const {
    return SessionOn(*model_, options);
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BackendModel> model_;
};

}  // namespace owml::test
