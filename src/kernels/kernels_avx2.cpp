// The avx2 table.
// Compiled with the flags that CMakeLists.txt gives this file alone.
#include "kernels/kernel_set.h"
#include "kernels/kernel_tables.h"
#include "kernels/vector_avx2.h"

namespace owml::kernels {

constinit const Kernels kAvx2Kernels = KernelSet<Avx2Vector>(Isa::kAvx2);

}  // namespace owml::kernels
