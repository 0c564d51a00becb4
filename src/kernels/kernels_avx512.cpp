// The avx512 table.
// Compiled with the flags that CMakeLists.txt gives this file alone.
#include "kernels/kernel_set.h"
#include "kernels/kernel_tables.h"
#include "kernels/vector_avx512.h"

namespace owml::kernels {

constinit const Kernels kAvx512Kernels = KernelSet<Avx512Vector>(Isa::kAvx512);

}  // namespace owml::kernels
