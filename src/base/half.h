// IEEE half precision <-> float, exact one way and rounded to nearest even the other way.
// For code that looks at single values; bulk conversion belongs to kernels.
#pragma once

#include <cstdint>

namespace owml {

// Every half is a float; NaN payloads are kept.
float HalfToFloat(uint16_t half) noexcept;

// Round to nearest, ties to even; beyond 65504 + half a step infinity; NaN stays NaN.
uint16_t FloatToHalf(float value) noexcept;

}  // namespace owml
