// What a job has to do at least: multiplications and additions, and bytes of weights and cache to read.
// Counted while a profile is taken.
#pragma once

#include <cstdint>

#include "backend/native/device/step.h"

namespace owml::native {

struct Work {
  uint64_t arithmetic = 0;
  uint64_t bytes = 0;
};

Work WorkOf(const Job& job, const Step& step);

}  // namespace owml::native
