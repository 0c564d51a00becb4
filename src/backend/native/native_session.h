// The running form of a GGUF model in the native engine: tokens in, logits of the last position out, with the sequence
// kept between runs. Made by native_model.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/native/native_settings.h"
#include "backend/native/sequences.h"
#include "backend/session.h"
#include "backend/token_ports.h"

namespace owml::native {

class NativeSession final : public BackendSession,
                            private SequenceState,
                            private SpeculativeSteps,
                            private BestTokens,
                            private CancellableRuns {
 public:
  NativeSession(std::shared_ptr<const ModelWeights> weights, const NativeSettings& settings);

  const Schema& schema() const override { return ports_.schema(); }
  SessionReport report() const override;
  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) override;
  void Reset() override;
  SequenceState* sequence_state() override { return this; }
  SpeculativeSteps* speculative_steps() override { return this; }
  BestTokens* best_tokens() override { return this; }
  CancellableRuns* cancellable_runs() override { return this; }
  ProfiledRuns* profiled_runs() override { return &sequences_->profile(); }

 private:
  // SequenceState
  uint64_t capacity() const override { return settings_.capacity; }
  std::optional<uint64_t> declared_capacity() const override { return weights_->plan().context; }
  uint64_t position() const override { return sequences_->position(kSlot); }
  void RewindTo(uint64_t position) override;
  void SetCapacity(uint64_t capacity) override;

  // SpeculativeSteps
  SpeculativeLimits limits() const override;
  uint32_t row_stride() const override { return static_cast<uint32_t>(weights_->plan().vocabulary); }
  void StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) override;
  void CommitAcceptedPrefix(uint32_t accepted) override;
  uint32_t ProposeDraftTokens(int32_t pending, std::span<int32_t> tokens) override;

  // BestTokens
  uint32_t max_best_tokens() const override { return std::min(kMaxBestTokens, row_stride()); }
  void RunForBest(std::span<const InputValue> inputs, std::span<TokenLogit> best) override;

  // CancellableRuns
  void Watch(std::shared_ptr<CancellationCheck> check) override { check_ = std::move(check); }

  static constexpr uint32_t kSlot = 0;
  uint32_t MaxStepWidth() const { return (settings_.draft_limit ? settings_.draft_limit : kMaxDraftTokens) + 1; }
  std::unique_ptr<Sequences> MakeSequences() const;
  void Append(const Continuation& next, const StepResults& results);
  // In pieces whose layers are short enough to look at the check in between.
  void AppendWatched(const Continuation& next, const StepResults& results);

  struct PendingStep {
    uint64_t start = 0;
    uint32_t width = 0;
  };

  std::shared_ptr<const ModelWeights> weights_;
  NativeSettings settings_;
  const kernels::Kernels& kernels_;
  std::unique_ptr<Sequences> sequences_;  // one, in kSlot
  TokenPorts ports_;
  std::optional<PendingStep> pending_;
  std::shared_ptr<CancellationCheck> check_;  // null = runs are not watched
  size_t watched_piece_ = 32;                 // tokens
};

}  // namespace owml::native
