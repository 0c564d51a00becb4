// Operations of the CPU device that need nothing of other rows: all of a job for one row, then for the next, with its
// numbers in the cache of one processor. Called by cpu_device.cpp.
#pragma once

#include "backend/native/device/step.h"
#include "backend/native/device/workers.h"
#include "kernels/kernels.h"

namespace owml::native {

void RunRows(const Job& job, const Step& step, const kernels::Kernels& kernels, Workers& workers) noexcept;

}  // namespace owml::native
