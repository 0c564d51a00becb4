// The scalar table.
// Compiled with the flags that CMakeLists.txt gives this file alone.
#include "kernels/kernel_set.h"
#include "kernels/kernel_tables.h"
#include "kernels/vector_scalar.h"

namespace owml::kernels {

constinit const Kernels kScalarKernels = KernelSet<ScalarVector>(Isa::kScalar);

}  // namespace owml::kernels
