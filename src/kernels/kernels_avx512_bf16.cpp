// The avx512 table's products of BF16 numbers for machines that have instructions for them.
// Compiled with the flags that CMakeLists.txt gives this file alone.
#include "kernels/attention_kernel.h"
#include "kernels/bfloat_kernel.h"
#include "kernels/kernel_tables.h"
#include "kernels/vector_avx512_bf16.h"

namespace owml::kernels {

void Avx512Bf16Matmul(const MatmulCall& call) { BfloatMatmul<Avx512Bf16Rows>(call); }

void Avx512Bf16Attend(const AttendCall& call) { Attend<Avx512Vector, CacheType::kBF16, Avx512Bf16Rows>(call); }

}  // namespace owml::kernels
