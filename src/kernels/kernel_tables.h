// The tables that are built, one from each kernels_<isa>.cpp.
// Included by those files and by kernels.cpp.
#pragma once

#include "kernels/kernels.h"

namespace owml::kernels {

extern const Kernels kScalarKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

// These need BF16 instructions; they give the bits of the other tables.
void Avx512Bf16Matmul(const MatmulCall& call);
void Avx512Bf16Attend(const AttendCall& call);  // to a cache in BF16

}  // namespace owml::kernels
