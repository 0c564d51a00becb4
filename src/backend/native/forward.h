// The forward pass of a decoder over sequences side by side: tokens in, cache filled, logits of the wanted positions
// out. Driven by sequences.cpp; every buffer is there since construction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/best_tokens.h"
#include "backend/cancellation.h"
#include "backend/native/device_weights.h"
#include "backend/native/graph/program.h"
#include "backend/native/kv_cache.h"
#include "backend/native/profile.h"
#include "kernels/kernels.h"

namespace owml::native {

enum class LogitRows { kNone, kLast, kAll };

// What goes through the model for the sequence of a slot.
struct SequenceTokens {
  uint32_t slot = 0;
  uint64_t position = 0;  // of the first token; cached positions from there on are overwritten
  std::span<const int32_t> tokens;
  LogitRows rows = LogitRows::kNone;
  bool best = false;  // the highest logits of these rows instead of all
};

// Where what was asked for goes, in the order of the tokens.
struct StepResults {
  std::span<float> logits = {};     // [rows, V]
  std::span<TokenLogit> best = {};  // [rows, best_count], each list sorted as BestTokens says
  uint32_t best_count = 0;
};

struct ForwardSettings {
  uint64_t capacity = 0;    // positions of a sequence
  uint32_t batch_size = 0;  // most tokens that go through a layer together
  uint32_t threads = 0;
  kernels::CacheType cache_type = kernels::CacheType::kF16;
  uint32_t slots = 1;      // sequences
  uint32_t take_back = 0;  // tokens that a sequence can surely take back; a batch where that is more
  uint32_t best = 1;       // most of the highest logits that are asked for
  bool pin_threads = false;
};

// The processor as a device with these settings.
std::unique_ptr<Device> OnCpu(const ForwardSettings& settings, const kernels::Kernels& kernels);

class Forward {
 public:
  // On the CPU. Throws E_OUTOFMEMORY.
  Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
          const kernels::Kernels& kernels);

  // On another device. Throws ERROR_NOT_SUPPORTED for what it cannot do.
  Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings, std::unique_ptr<Device> device);

  // Computes the tokens of all sequences together. Slots, tokens, positions and results are in range. A sequence gets
  // the same bits however its tokens are divided into calls and batches, in any slot and company. False when `check`,
  // which is looked at before each layer and may be null, ended it; cached positions that were to be written mean
  // nothing then. Throws E_FAIL where the device failed, to the same effect.
  bool Run(std::span<const SequenceTokens> sequences, const StepResults& results, CancellationCheck* check = nullptr);

  uint32_t threads() const { return device_->threads(); }
  const KvCache& cache() const { return cache_; }
  Profile& profile() { return profile_; }

 private:
  // Where a row that is read gives its logits, or the highest of them.
  struct Wanted {
    float* logits = nullptr;
    TokenLogit* best = nullptr;
  };

  bool RunBatch(uint32_t best_count, CancellationCheck* check);
  void ClearBatch() noexcept;
  void PlaceResults() noexcept;
  void BringResults(uint32_t best_count);

  ForwardSettings settings_;
  std::unique_ptr<Device> device_;
  DeviceWeights weights_;
  KvCache cache_;
  std::vector<DeviceMemory> rope_steps_;
  Profile profile_;
  // Batches of which every row is read, and others.
  std::optional<Program> every_row_, some_rows_;
  DeviceMemory work_;
  DeviceMemory staged_;  // results of a batch, where the device cannot write where the caller wants them
  uint64_t staged_row_bytes_ = 0;
  std::vector<Row> rows_, read_;  // of a batch
  std::vector<uint32_t> read_from_;
  std::vector<Wanted> wanted_;
  std::vector<RowResult> results_;
};

}  // namespace owml::native
