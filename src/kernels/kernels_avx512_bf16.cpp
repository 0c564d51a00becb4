// The avx512 table's products of BF16 weights for machines that have instructions for them.
// Compiled with the flags that CMakeLists.txt gives this file alone.
#include "kernels/bfloat_kernel.h"
#include "kernels/kernel_tables.h"
#include "kernels/vector_avx512_bf16.h"

namespace owml::kernels {

void Avx512Bf16Matmul(const MatmulCall& call) { BfloatMatmul<Avx512Bf16Rows>(call); }

}  // namespace owml::kernels
