// Checks come first, so that a step either appends everything or nothing.
// See sequences.h.
#include "backend/native/sequences.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace owml::native {
namespace {

const ForwardSettings& CheckedSettings(const ForwardSettings& settings) {
  if (settings.slots == 0 || settings.slots > kMaxSequences) {
    throw Error(E_INVALIDARG, "a batch of " + std::to_string(settings.slots) + " sequences is outside 1 to " +
                                  std::to_string(kMaxSequences));
  }
  return settings;
}

}  // namespace

Sequences::Sequences(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                     std::unique_ptr<Device> device)
    : capacity_(settings.capacity),
      vocabulary_(weights->plan().vocabulary),
      most_best_(settings.best),
      sequences_(CheckedSettings(settings).slots),
      forward_(std::move(weights), settings, std::move(device)) {
  tokens_.reserve(sequences_.size());
}

Sequences::Sequences(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                     const kernels::Kernels& kernels)
    : Sequences(std::move(weights), CheckedSettings(settings), OnCpu(settings, kernels)) {}

std::optional<uint32_t> Sequences::Add() {
  const auto free = std::find_if(sequences_.begin(), sequences_.end(), [](const Sequence& s) { return !s.taken; });
  if (free == sequences_.end()) return std::nullopt;
  *free = {.taken = true};
  return static_cast<uint32_t>(free - sequences_.begin());
}

void Sequences::Remove(uint32_t slot) { sequences_[Checked(slot)] = {}; }

uint32_t Sequences::Checked(uint32_t slot) const {
  if (slot >= sequences_.size() || !sequences_[slot].taken) {
    throw Error(E_INVALIDARG,
                "there is no sequence in slot " + std::to_string(slot) + " of " + std::to_string(sequences_.size()));
  }
  return slot;
}

// For sentences; nothing where there can be only one.
std::string Sequences::Label(uint32_t slot) const {
  return sequences_.size() == 1 ? std::string() : "sequence " + std::to_string(slot) + ": ";
}

void Sequences::RewindTo(uint32_t slot, uint64_t position) {
  Sequence& sequence = sequences_[Checked(slot)];
  if (position > sequence.position) {
    throw Error(E_INVALIDARG, Label(slot) + "cannot rewind to position " + std::to_string(position) +
                                  ": the sequence is at " + std::to_string(sequence.position));
  }
  if (!CanRewindTo(slot, position)) {
    throw Error(E_INVALIDARG, Label(slot) + "cannot rewind from position " + std::to_string(sequence.position) +
                                  " to " + std::to_string(position) +
                                  ": layers that see a window keep only enough to go back " +
                                  std::to_string(depth().value_or(0)) + " tokens from position " +
                                  std::to_string(sequence.written) + ", or to the start");
  }
  sequence.position = position;
  if (position == 0) sequence.written = 0;
}

bool Sequences::CanRewindTo(uint32_t slot, uint64_t position) const {
  const Sequence& sequence = sequences_[Checked(slot)];
  return position <= sequence.position && forward_.cache().Remembers(position, sequence.written);
}

void Sequences::CheckTokens(uint32_t slot, std::span<const int32_t> tokens) const {
  const uint64_t position = this->position(slot);
  if (tokens.empty()) throw Error(E_INVALIDARG, Label(slot) + "there are no tokens to append");
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<uint64_t>(token) >= vocabulary_) {
      throw Error(E_INVALIDARG, Label(slot) + "token id " + std::to_string(token) + " is outside the vocabulary of " +
                                    std::to_string(vocabulary_) + " tokens");
    }
  }
  if (tokens.size() > capacity_ || position > capacity_ - tokens.size()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                Label(slot) + std::to_string(tokens.size()) + " tokens at position " + std::to_string(position) +
                    " do not fit the sequence capacity of " + std::to_string(capacity_));
  }
}

void Sequences::CheckResults(std::span<const Continuation> continuations, const StepResults& results) const {
  uint64_t rows = 0, lists = 0;
  for (const Continuation& next : continuations) {
    if (next.rows != LogitRows::kNone) {
      (next.best ? lists : rows) += next.rows == LogitRows::kAll ? next.tokens.size() : 1;
    }
  }
  const uint64_t most = std::min<uint64_t>(most_best_, vocabulary_);
  if (lists > 0 && (results.best_count == 0 || results.best_count > most)) {
    throw Error(E_INVALIDARG, "the " + std::to_string(results.best_count) +
                                  " highest logits were asked for; between 1 and " + std::to_string(most) +
                                  " can be given");
  }
  if (results.logits.size() / vocabulary_ < rows || (lists > 0 && results.best.size() / results.best_count < lists)) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                std::to_string(rows) + " rows of " + std::to_string(vocabulary_) + " logits and " +
                    std::to_string(lists) + " lists of " + std::to_string(results.best_count) +
                    " do not fit room for " + std::to_string(results.logits.size()) + " and " +
                    std::to_string(results.best.size()));
  }
}

void Sequences::Check(std::span<const Continuation> continuations, const StepResults& results) const {
  if (continuations.empty()) throw Error(E_INVALIDARG, "a step of no sequences");
  for (auto next = continuations.begin(); next != continuations.end(); ++next) {
    CheckTokens(next->slot, next->tokens);
    const bool twice = std::any_of(continuations.begin(), next, [&](const auto& s) { return s.slot == next->slot; });
    if (twice) throw Error(E_INVALIDARG, Label(next->slot) + "it stands twice in one step");
  }
  CheckResults(continuations, results);
}

void Sequences::Step(std::span<const Continuation> continuations, const StepResults& results,
                     CancellationCheck* check) {
  Check(continuations, results);
  tokens_.clear();
  for (const Continuation& next : continuations) {
    tokens_.push_back({next.slot, position(next.slot), next.tokens, next.rows, next.best});
  }
  bool complete = false;
  try {
    complete = forward_.Run(tokens_, results, check);
  } catch (...) {
    Settle(continuations, /*complete=*/false);
    throw;
  }
  Settle(continuations, complete);
  if (!complete) throw Error(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the run was cancelled");
}

void Sequences::Settle(std::span<const Continuation> continuations, bool complete) {
  for (const Continuation& next : continuations) {
    Sequence& sequence = sequences_[next.slot];
    const uint64_t end = sequence.position + next.tokens.size();
    sequence.written = std::max(sequence.written, end);
    if (complete) {
      sequence.position = end;
    } else if (!CanRewindTo(next.slot, sequence.position)) {
      RewindTo(next.slot, 0);
    }
  }
}

}  // namespace owml::native
