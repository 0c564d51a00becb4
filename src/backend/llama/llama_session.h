// The running form of a GGUF model: tokens in, logits of the last position out, with the sequence kept between runs.
// Made by llama_model.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/llama/llama_sequence.h"
#include "backend/session.h"
#include "backend/token_ports.h"

namespace owml {

class LlamaSession final : public BackendSession,
                           private SequenceState,
                           private SpeculativeSteps,
                           private CancellableRuns {
 public:
  LlamaSession(std::shared_ptr<llama_model> model, const LlamaSettings& settings, const LlamaModelFacts& facts,
               std::string engine);

  const Schema& schema() const override { return ports_.schema(); }
  SessionReport report() const override;
  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) override;
  void Reset() override;
  SequenceState* sequence_state() override { return this; }
  SpeculativeSteps* speculative_steps() override { return this; }
  CancellableRuns* cancellable_runs() override { return this; }

 private:
  // SequenceState
  uint64_t capacity() const override { return sequence_.capacity(); }
  std::optional<uint64_t> declared_capacity() const override { return declared_capacity_; }
  uint64_t position() const override { return sequence_.position(); }
  void RewindTo(uint64_t position) override;
  void SetCapacity(uint64_t capacity) override;

  // SpeculativeSteps
  SpeculativeLimits limits() const override;
  uint32_t row_stride() const override { return sequence_.vocabulary_size(); }
  void StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) override;
  void CommitAcceptedPrefix(uint32_t accepted) override;
  uint32_t ProposeDraftTokens(int32_t pending, std::span<int32_t> tokens) override;

  // CancellableRuns
  void Watch(std::shared_ptr<CancellationCheck> check) override { sequence_.Watch(std::move(check)); }

  struct PendingStep {
    uint64_t start = 0;
    uint32_t width = 0;
  };

  LlamaSettings settings_;
  std::optional<uint64_t> declared_capacity_;
  std::string engine_;
  LlamaSequence sequence_;
  TokenPorts ports_;
  std::optional<PendingStep> pending_;
};

}  // namespace owml
