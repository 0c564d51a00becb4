// Keys and values into the cache: a block of threads for a head of a row.
// A warp makes the blocks of eight bits.
#include "backend/native/device/cuda/cache.cuh"

namespace owml::native {
namespace {

constexpr uint32_t kThreads = 64;

template <kernels::CacheType Type>
__device__ uint16_t ToTwoBytes(float x) {
  return Type == kernels::CacheType::kBF16 ? ToBfloat(x) : ToHalf(x);
}

template <kernels::CacheType Type>
__global__ void AppendKernel(const Row* rows, FloatRows keys, FloatRows values, CudaCache cache) {
  const Row row = rows[blockIdx.x];
  const uint32_t width = cache.width;
  const float *key = keys.at(blockIdx.x, blockIdx.y), *value = values.at(blockIdx.x, blockIdx.y);
  const auto in_segment = static_cast<uint32_t>(row.position % kernels::kAttentionSegment);
  const uint32_t place = in_segment % kKeyGroup;
  uint8_t* key_group =
      cache.KeysFrom(row.slot, blockIdx.y, row.position) + (in_segment - place) * CacheKeyBytes<Type>(width);
  uint8_t* value_row = cache.ValuesFrom(row.slot, blockIdx.y, row.position) + ValueRow<Type>(width, in_segment);
  if constexpr (Type == kernels::CacheType::kQ8) {
    const uint32_t blocks = (width + kCacheBlock - 1) / kCacheBlock, lane = threadIdx.x % kWarp;
    auto* value_scales = reinterpret_cast<uint16_t*>(value_row + blocks * kCacheBlock);
    for (uint32_t block = threadIdx.x / kWarp; block < blocks; block += kThreads / kWarp) {
      const uint32_t d = block * kCacheBlock + lane;
      uint8_t* at = key_group + block * kKeyBlockBytes;
      const WarpBlock k = QuantizeInWarp(d < width ? key[d] : 0.0f), v = QuantizeInWarp(d < width ? value[d] : 0.0f);
      at[2 * kKeyGroup + lane * kKeyGroup + place] = static_cast<uint8_t>(k.value);
      value_row[d] = static_cast<uint8_t>(v.value);
      if (lane == 0) {
        reinterpret_cast<uint16_t*>(at)[place] = ToHalf(k.scale);
        value_scales[block] = ToHalf(v.scale);
      }
    }
  } else {
    for (uint32_t d = threadIdx.x; d < width; d += kThreads) {
      reinterpret_cast<uint16_t*>(key_group)[KeyPlace<Type>(d, place)] = ToTwoBytes<Type>(key[d]);
      reinterpret_cast<uint16_t*>(value_row)[ValuePlace<Type>(d, in_segment)] = ToTwoBytes<Type>(value[d]);
    }
  }
}

}  // namespace

void RunOnCuda(const Append& op, const CudaCall& call) noexcept {
  ForCacheType(op.cache.type, [&]<kernels::CacheType Type>() {
    Launch(call.queue, dim3(call.count(), static_cast<uint32_t>(op.keys.extent(1))), kThreads, AppendKernel<Type>,
           call.rows(), RowsOf(op.keys), RowsOf(op.values), CacheOf(op.cache, op.keys.extent(2)));
  });
}

}  // namespace owml::native
