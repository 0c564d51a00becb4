// Fuzz target: a GGUF file in the native engine, through its plan, its tensors and their packing; a model that loads
// gives the same logits on every instruction set, however its tokens are divided. Run by libFuzzer, and by the replay
// program on the corpus.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/native/native_backend.h"
#include "base/error.h"
#include "kernels/isa.h"

namespace {

using namespace owml;  // NOLINT

// Time and memory of a model grow with the bytes of its file.
constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kTokens = 3;

void Require(bool condition) {
  if (!condition) std::abort();
}

bool SameNumber(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(a)) == 0; }

std::vector<float> Logits(BackendSession& session, bool together) {
  SpeculativeSteps& steps = *session.speculative_steps();
  const uint32_t vocabulary = steps.row_stride();
  Require(vocabulary > 0);
  const auto last = static_cast<int32_t>(vocabulary - 1);
  const int32_t tokens[kTokens] = {0, last, last / 2};
  std::vector<float> logits(kTokens * vocabulary);
  for (size_t i = 0, count = together ? kTokens : 1; i < kTokens; i += count) {
    steps.StepAllPositions({tokens + i, count}, std::span(logits).subspan(i * vocabulary, count * vocabulary));
  }
  return logits;
}

void RunOnEveryIsa(const BackendModel& model, SessionOptions options) {
  std::vector<std::unique_ptr<BackendSession>> sessions;  // the weights stay while one is there
  std::vector<float> expected;
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    ::setenv("OWML_FORCE_ISA", std::string(kernels::Name(isa)).c_str(), 1);
    sessions.push_back(model.CreateSession(options));
    const std::vector<float> logits = Logits(*sessions.back(), sessions.size() == 1);
    if (expected.empty()) expected = logits;
    Require(logits.size() == expected.size());
    for (size_t i = 0; i < logits.size(); ++i) Require(SameNumber(logits[i], expected[i]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMostBytes) return 0;
  constexpr KvCacheType kCacheTypes[] = {KvCacheType::kF16, KvCacheType::kBF16, KvCacheType::kQ8_0};
  SessionOptions options;
  options.intra_op_threads = 1;
  options.batch_size = 2;
  options.sequence_capacity_hint = kTokens;
  options.kv_cache_type = kCacheTypes[size % 3];
  try {
    ModelSource source;
    source.bytes = std::as_bytes(std::span(data, size));
    RunOnEveryIsa(*MakeNativeBackend()->Load(source, ModelFormat::kGguf), options);
  } catch (const Error& error) {
    Require(error.what()[0] != '\0');
  }
  return 0;
}
