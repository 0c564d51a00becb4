// Sequences over the weights of a tiny model, and steps of one of them.
// Used by the tests of sequences and of their cache.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/native/native_fixture.h"
#include "backend/native/sequences.h"

namespace owml::test {

inline std::unique_ptr<native::Sequences> MakeSequences(std::shared_ptr<const native::ModelWeights> weights,
                                                        const native::ForwardSettings& settings) {
  return std::make_unique<native::Sequences>(std::move(weights), settings, kernels::KernelsFor(kernels::ChosenIsa()));
}

// One step of one sequence; its rows of logits.
inline std::vector<float> Append(native::Sequences& sequences, uint32_t slot, std::span<const int32_t> tokens,
                                 native::LogitRows rows = native::LogitRows::kLast) {
  std::vector<float> logits((rows == native::LogitRows::kAll ? tokens.size() : 1) * kTinyVocabulary);
  const native::Continuation step{slot, tokens, rows};
  sequences.Step({&step, 1}, {logits});
  return logits;
}

}  // namespace owml::test
