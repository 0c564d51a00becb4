// Tensor shapes: extents, free dimensions and the overflow-checked products of them.
// Used by every floor that sizes memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace owml {

// Extents, outermost first. Rank 0 is one element.
using Dims = std::vector<uint64_t>;

// An extent that is settled later; the ABI's UINT64_MAX.
inline constexpr uint64_t kFreeDimension = UINT64_MAX;

// No tensor has more axes than this; a bound for input from files and callers.
inline constexpr uint32_t kMaxRank = 64;

bool IsConcrete(std::span<const uint64_t> dims);

// Product of the extents; nothing when an extent is free or the product does not fit 64 bits.
std::optional<uint64_t> ElementCount(std::span<const uint64_t> dims);

// Bytes of a dense tensor; packed types round up to whole bytes. Nothing on a free extent or overflow.
std::optional<uint64_t> ByteSize(DType dtype, std::span<const uint64_t> dims);

// "[2, ?, 4]", free extents as "?".
std::string ToString(std::span<const uint64_t> dims);

// "float32 [2, ?, 4]".
std::string ToString(DType dtype, std::span<const uint64_t> dims);

// True when `actual` (concrete) is an instance of `declared`, whose free extents take any value.
bool Matches(std::span<const uint64_t> declared, std::span<const uint64_t> actual);

}  // namespace owml
