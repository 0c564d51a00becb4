// The whole table for one vector type.
// Instantiated once in each kernels_<isa>.cpp.
#pragma once

#include "kernels/attention_kernel.h"
#include "kernels/bfloat_kernel.h"
#include "kernels/cache_kernel.h"
#include "kernels/float_kernel.h"
#include "kernels/gemm_kernel.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"
#include "kernels/probe_kernel.h"
#include "kernels/row_kernels.h"

namespace owml::kernels {

template <class V>
constexpr Kernels KernelSet(Isa isa) {
  return {
      .isa = isa,
      .matmul = {FloatMatmul<V, WeightType::kF32>, FloatMatmul<V, WeightType::kF16>, BfloatMatmul<typename V::Rows>,
                 AnyMatmul<V, WeightType::kQ8_0>, AnyMatmul<V, WeightType::kQ4_0>, AnyMatmul<V, WeightType::kQ4_1>,
                 AnyMatmul<V, WeightType::kQ5_0>, AnyMatmul<V, WeightType::kQ5_1>, AnyMatmul<V, WeightType::kQ2_K>,
                 AnyMatmul<V, WeightType::kQ3_K>, AnyMatmul<V, WeightType::kQ4_K>, AnyMatmul<V, WeightType::kQ5_K>,
                 AnyMatmul<V, WeightType::kQ6_K>, AnyMatmul<V, WeightType::kIQ4_NL>, AnyMatmul<V, WeightType::kMXFP4>},
      .quantize = Quantize<V>,
      .rms_norm = RmsNorm<V>,
      .silu_multiply = SiluMultiply<V>,
      .gelu_multiply = GeluMultiply<V>,
      .rotate_pairs = RotatePairs<V>,
      .rotate_halves = RotateHalves<V>,
      .scale = Scale<V>,
      .add_scaled = AddScaled<V>,
      .soft_cap = SoftCapAll<V>,
      .store_key = {StoreKey<V, CacheType::kF16>, StoreKey<V, CacheType::kBF16>, StoreKey<V, CacheType::kQ8>},
      .store_value = {StoreValue<V, CacheType::kF16>, StoreValue<V, CacheType::kBF16>, StoreValue<V, CacheType::kQ8>},
      .attend = {Attend<V, CacheType::kF16>, Attend<V, CacheType::kBF16>, Attend<V, CacheType::kQ8>},
      .merge_attention = MergeAttention<V>,
      .finish_attention = FinishAttention<V>,
      .probe_read = ProbeRead<V>,
      .probe_multiply = ProbeMultiply<V>,
  };
}

}  // namespace owml::kernels
