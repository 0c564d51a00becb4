// Token sequences that one forward pass continues together, each in a slot of its own: where they stand, and what may
// be appended. A session holds one of them; whoever serves many at once holds many.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/native/forward.h"

namespace owml::native {

inline constexpr uint32_t kMaxSequences = 256;

// What a step appends to a sequence, and which of its logits are asked for: whole rows, or the highest of each.
struct Continuation {
  uint32_t slot = 0;
  std::span<const int32_t> tokens;
  LogitRows rows = LogitRows::kLast;
  bool best = false;
};

class Sequences {
 public:
  // Room for settings.slots sequences, 1 to kMaxSequences, of settings.capacity positions. Memory is reserved here and
  // taken as positions are filled. Throws E_INVALIDARG, E_OUTOFMEMORY.
  Sequences(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
            const kernels::Kernels& kernels);
  // On another device than the CPU. Throws ERROR_NOT_SUPPORTED for what it cannot do.
  Sequences(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
            std::unique_ptr<Device> device);

  // An empty sequence; nothing where every slot is taken.
  std::optional<uint32_t> Add();
  // The methods below throw E_INVALIDARG for a slot that holds no sequence.
  void Remove(uint32_t slot);

  ProfiledRuns& profile() { return forward_.profile(); }

  uint64_t position(uint32_t slot) const { return sequences_[Checked(slot)].position; }
  uint64_t capacity() const { return capacity_; }
  uint32_t threads() const { return forward_.threads(); }
  uint64_t cache_bytes() const { return forward_.cache().bytes(); }

  // Keeps the first `position` tokens. E_INVALIDARG for more than there are, and for a place that layers with a window
  // do not remember any more: from `depth` tokens back, where there is one, only the start is sure.
  void RewindTo(uint32_t slot, uint64_t position);
  bool CanRewindTo(uint32_t slot, uint64_t position) const;
  std::optional<uint64_t> depth() const { return forward_.cache().depth(); }

  // Throws what Step would throw before any work.
  void Check(std::span<const Continuation> continuations, const StepResults& results) const;

  // Appends to several sequences, prompts and single tokens side by side. Every matrix is gone through once for the
  // tokens of all (in batches of the size that was set), and each sequence gets the logits that it would get alone, bit
  // for bit. Throws E_INVALIDARG for a slot that occurs twice, for no tokens, for ids outside the vocabulary and for
  // more of the best than settings.best, ERROR_INSUFFICIENT_BUFFER past the capacity or for more than `results` holds,
  // ERROR_CANCELLED where `check` ended the step, E_FAIL where the device failed; every sequence is then as before, but
  // one that had to go too far back after one of these two is empty. Takes no memory.
  void Step(std::span<const Continuation> continuations, const StepResults& results,
            CancellationCheck* check = nullptr);

 private:
  struct Sequence {
    bool taken = false;
    uint64_t position = 0;
    uint64_t written = 0;  // positions that have been in the cache
  };

  // The slot itself, where it holds a sequence.
  uint32_t Checked(uint32_t slot) const;
  std::string Label(uint32_t slot) const;
  void CheckTokens(uint32_t slot, std::span<const int32_t> tokens) const;
  void CheckResults(std::span<const Continuation> continuations, const StepResults& results) const;
  // Where sequences stand after a step.
  void Settle(std::span<const Continuation> continuations, bool complete);

  uint64_t capacity_;
  uint64_t vocabulary_;
  uint32_t most_best_;
  std::vector<Sequence> sequences_;     // by slot
  std::vector<SequenceTokens> tokens_;  // of a step
  Forward forward_;
};

}  // namespace owml::native
