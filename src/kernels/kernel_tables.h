// The tables that are built, one from each kernels_<isa>.cpp.
// Included by those files and by kernels.cpp.
#pragma once

#include "kernels/kernels.h"

namespace owml::kernels {

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

// Needs BF16 instructions; gives the bits of the other tables.
void Avx512Bf16Matmul(const MatmulCall& call);

}  // namespace owml::kernels
