// The whole table for one vector type.
// Instantiated once in each kernels_<isa>.cpp.
#pragma once

#include "kernels/attention_kernel.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"
#include "kernels/row_kernels.h"

namespace owml::kernels {

template <class V>
constexpr Kernels KernelSet(Isa isa) {
  return {
      .isa = isa,
      .matmul = {FloatMatmul<V, FloatColumn<V>>, FloatMatmul<V, HalfColumn<V>>, FloatMatmul<V, BfloatColumn<V>>,
                 QuantizedMatmul<V, ByteBlocks<V>>, QuantizedMatmul<V, NibbleBlocks<V, false>>,
                 QuantizedMatmul<V, NibbleBlocks<V, true>>},
      .quantize = Quantize<V>,
      .rms_norm = RmsNorm<V>,
      .silu_multiply = SiluMultiply<V>,
      .rotate_pairs = RotatePairs<V>,
      .scale = Scale<V>,
      .store_key = StoreKey<V>,
      .store_value = StoreValue<V>,
      .attend = Attend<V>,
      .merge_attention = MergeAttention<V>,
      .finish_attention = FinishAttention<V>,
  };
}

}  // namespace owml::kernels
