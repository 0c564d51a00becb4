// From an instruction set to its table.
// On other processors than x86-64 only the scalar table exists.
#include "kernels/kernels.h"

#include "kernels/kernel_tables.h"

namespace owml::kernels {

const Kernels& KernelsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return kAvx512Kernels;
  if (isa == Isa::kAvx2) return kAvx2Kernels;
#endif
  static_cast<void>(isa);
  return kScalarKernels;
}

}  // namespace owml::kernels
