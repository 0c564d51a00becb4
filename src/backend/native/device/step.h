// What goes through a model at once: tokens of one or more sequences, in any mixture.
// Made by forward.cpp from what a session wants, read by devices.
#pragma once

#include <cstdint>
#include <span>

#include "backend/native/graph/operation.h"

namespace owml::native {

struct Row {
  int32_t token = 0;
  uint32_t slot = 0;      // of its sequence in the cache
  uint64_t position = 0;  // in its sequence
};

// The next token of the same sequence.
inline bool Follows(const Row& row, const Row& before) {
  return row.slot == before.slot && row.position == before.position + 1;
}

// What a row that is read gives, to memory of the device: one of both.
struct RowResult {
  DeviceAddress logits = 0;  // [V] floats
  DeviceAddress best = 0;    // [best_count] TokenLogit, sorted as BestTokens says
};

struct Step {
  std::span<const Row> tokens;
  std::span<const Row> read;            // those whose results are read, in the same order
  std::span<const uint32_t> read_from;  // their numbers among the tokens
  std::span<const RowResult> results;   // of those that are read
  uint32_t best_count = 0;

  std::span<const Row> rows(RowSet set) const { return set == RowSet::kTokens ? tokens : read; }
};

}  // namespace owml::native
