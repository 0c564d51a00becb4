// The same sequences on the CPU and on an emulated GPU.
// Used by the tests of this folder.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/native/device/cuda/cuda_devices.h"
#include "backend/native/random_models.h"
#include "backend/native/sequences_fixture.h"
#include "support/cuda/emulation.h"

namespace owml::test {

inline std::unique_ptr<native::Device> EmulatedGpu(const std::string& id = "CUDA0") {
  return native::MakeCudaDevice(*native::FindCudaDevice(id));
}

inline std::unique_ptr<native::Sequences> OnGpu(std::shared_ptr<const native::ModelWeights> weights,
                                                const native::ForwardSettings& settings) {
  return std::make_unique<native::Sequences>(std::move(weights), settings, EmulatedGpu());
}

// Threads and blocks in descending order while it lives.
class DescendingOrder {
 public:
  DescendingOrder() { cuda_emulation::SetDescending(true); }
  ~DescendingOrder() { cuda_emulation::SetDescending(false); }
};

// Logits of every token, fed in steps of at most `chunk`.
inline std::vector<float> AllLogits(native::Sequences& sequences, uint32_t slot, std::span<const int32_t> tokens,
                                    size_t chunk) {
  std::vector<float> logits;
  for (size_t i = 0; i < tokens.size(); i += chunk) {
    const auto rows =
        Append(sequences, slot, tokens.subspan(i, std::min(chunk, tokens.size() - i)), native::LogitRows::kAll);
    logits.insert(logits.end(), rows.begin(), rows.end());
  }
  return logits;
}

// The length of the difference, as a part of the length of what is expected.
inline double RelativeDistance(std::span<const float> values, std::span<const float> expected) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(double{values[i]} - expected[i], 2);
    length += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(difference / length);
}

}  // namespace owml::test
