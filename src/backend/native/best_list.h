// The highest logits of a row, found while its pieces are computed, in any order.
// Used by the head of the forward pass.
#pragma once

#include <cstdint>
#include <span>

#include "backend/best_tokens.h"

namespace owml::native {

// Whether `a` stands before `b` in a list.
bool IsBefore(const TokenLogit& a, const TokenLogit& b);

// Fills a list with what everything stands before.
void Clear(std::span<TokenLogit> best);

// Brings the logits of `first` and the tokens after it into a list.
void Merge(std::span<TokenLogit> best, std::span<const float> logits, int32_t first);

// Brings another list into a list.
void Merge(std::span<TokenLogit> best, std::span<const TokenLogit> others);

}  // namespace owml::native
