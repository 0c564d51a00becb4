// One pass over the logits, at any alignment.
// A NaN compares false with everything, which is how it never wins.
#include "tensor/argmax.h"

#include <limits>

#include "base/half.h"
#include "tensor/element.h"

namespace owml {
namespace {

template <class Load>
uint64_t ArgMaxOf(uint64_t count, Load load) {
  uint64_t best = 0;
  float highest = -std::numeric_limits<float>::infinity();
  bool found = false;  // minus infinity is a value as well
  for (uint64_t i = 0; i < count; ++i) {
    const float value = load(i);
    if (value > highest || (!found && value == highest)) {
      highest = value;
      best = i;
      found = true;
    }
  }
  return best;
}

}  // namespace

uint64_t ArgMax(const TensorView& logits) {
  const uint64_t count = *ElementCount(logits.dims);
  if (logits.dtype == DType::kFloat32) {
    return ArgMaxOf(count, [&](uint64_t i) { return LoadElement<float>(logits, i); });
  }
  return ArgMaxOf(count, [&](uint64_t i) { return HalfToFloat(LoadElement<uint16_t>(logits, i)); });
}

}  // namespace owml
