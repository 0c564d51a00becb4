// Two BF16 numbers as they are multiplied: in 32 bits, the first in the lower half, where an instruction takes both at
// once, and as floats where each is taken by itself.
// Chosen by a vector type as its Pair; made by bfloat_pairs.h.
#pragma once

#include <cstdint>

#include "kernels/inline.h"

namespace owml::kernels {

struct FloatPair {
  float first, second;
};

// Of the numbers' 16 bits.
template <class Pair>
OWML_INLINE Pair PairOf(uint32_t first, uint32_t second) {
  if constexpr (sizeof(Pair) == sizeof(uint32_t)) {
    return first | second << 16;
  } else {
    const uint32_t bits[2] = {first << 16, second << 16};
    Pair pair;
    __builtin_memcpy(&pair, bits, sizeof(pair));
    return pair;
  }
}

}  // namespace owml::kernels
