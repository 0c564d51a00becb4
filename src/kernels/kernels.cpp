// From an instruction set to its table.
// On other processors than x86-64 only the scalar table exists.
#include "kernels/kernels.h"

#include "kernels/kernel_tables.h"

namespace owml::kernels {

const Kernels& KernelsFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) {
    static const Kernels table = [] {
      Kernels kernels = kAvx512Kernels;
      if (HasAvx512Bf16()) {
        kernels.matmul[static_cast<size_t>(WeightType::kBF16)] = Avx512Bf16Matmul;
        kernels.attend[static_cast<size_t>(CacheType::kBF16)] = Avx512Bf16Attend;
      }
      return kernels;
    }();
    return table;
  }
  if (isa == Isa::kAvx2) return kAvx2Kernels;
#endif
  static_cast<void>(isa);
  return kScalarKernels;
}

}  // namespace owml::kernels
