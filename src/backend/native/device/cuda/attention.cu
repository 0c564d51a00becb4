// Attention: a block of 64 threads for some query heads of a row that share a KV head. A thread is a position for the
// scores and a dimension for the values. Softmax is computed on the way, over blocks of 64 positions; what a row sees
// is divided at absolute segments, whose states are merged in order: by one block of threads, or, where there are too
// few rows to keep the device busy, side by side and in a second launch. So a row's result is its own in bits too.
#include <algorithm>

#include "backend/native/device/cuda/cache.cuh"

namespace owml::native {
namespace {

using kernels::CacheType;
using kernels::kAttentionSegment;

constexpr uint32_t kThreads = 64;  // positions of a block
constexpr uint32_t kHeads = 4;     // query heads of a block of threads
constexpr float kLowest = -1e30f;  // minus infinity, without its NaNs

struct AttendCall {
  const Row* rows;
  FloatRows queries, out;
  CudaCache cache;
  uint32_t heads, kv_heads, window;
  float cap;
  float* states;  // [row][segment][head][width + 2], or null where one block of threads takes all segments
  uint32_t most_segments;

  __device__ uint64_t FirstSeen(uint64_t position) const {
    return window != 0 && position + 1 > window ? position + 1 - window : 0;
  }
  __device__ float* StateOf(uint32_t row, uint64_t segment, uint32_t head) const {
    return states + ((static_cast<uint64_t>(row) * most_segments + segment) * heads + head) * (cache.width + 2);
  }
};

// Softmax of a range in the making: the maximum, the sum of weights and of weighted values.
template <int Dims>
struct State {
  float maximum = kLowest, sum = 0;
  float values[Dims] = {};  // dimensions threadIdx.x, threadIdx.x + 64, ...

  // This and what follows it.
  __device__ void Merge(const State& part) {
    const float highest = fmaxf(maximum, part.maximum);
    const float keep = Exp2(maximum - highest), take = Exp2(part.maximum - highest);
    maximum = highest;
    sum = fmaf(part.sum, take, sum * keep);
#pragma unroll
    for (int i = 0; i < Dims; ++i) values[i] = fmaf(part.values[i], take, values[i] * keep);
  }
};

// A cache in BF16 is multiplied by queries and weights in BF16.
template <CacheType Type>
__device__ float Operand(float x) {
  return Type == CacheType::kBF16 ? FromBfloat(ToBfloat(x)) : x;
}

// scores[h] += query h times the key at `place` of a group.
template <CacheType Type, int Width>
__device__ void AddScores(const uint8_t* group, uint32_t place, uint32_t width, const float (*queries)[Width],
                          uint32_t heads, float (&scores)[kHeads]) {
  for (uint32_t begin = 0; begin < width; begin += kCacheBlock) {
    const uint32_t end = begin + kCacheBlock < width ? begin + kCacheBlock : width;
    const uint8_t* block = group + begin / kCacheBlock * kKeyBlockBytes;  // of Q8
    const float scale = Type == CacheType::kQ8 ? FromHalf(reinterpret_cast<const uint16_t*>(block)[place]) : 0.0f;
#pragma unroll 8
    for (uint32_t d = begin; d < end; ++d) {
      float key;
      if constexpr (Type == CacheType::kQ8) {
        const auto byte = static_cast<int8_t>(block[2 * kKeyGroup + (d - begin) * kKeyGroup + place]);
        key = scale * static_cast<float>(byte);
      } else {
        const uint16_t bits = reinterpret_cast<const uint16_t*>(group)[KeyPlace<Type>(d, place)];
        key = Type == CacheType::kBF16 ? FromBfloat(bits) : FromHalf(bits);
      }
#pragma unroll
      for (uint32_t h = 0; h < kHeads; ++h) {
        if (h < heads) scores[h] = fmaf(key, queries[h][d], scores[h]);
      }
    }
  }
}

// `values` are those of the segment.
template <CacheType Type>
__device__ float ValueAt(const uint8_t* values, uint32_t width, uint32_t position, uint32_t d) {
  const uint8_t* row = values + ValueRow<Type>(width, position);
  if constexpr (Type == CacheType::kQ8) {
    const uint32_t blocks = (width + kCacheBlock - 1) / kCacheBlock;
    const auto* scales = reinterpret_cast<const uint16_t*>(row + blocks * kCacheBlock);
    return FromHalf(scales[d / kCacheBlock]) * static_cast<float>(static_cast<int8_t>(row[d]));
  } else {
    const uint16_t bits = reinterpret_cast<const uint16_t*>(row)[ValuePlace<Type>(d, position)];
    return Type == CacheType::kBF16 ? FromBfloat(bits) : FromHalf(bits);
  }
}

template <CacheType Type, int Dims>
__global__ void __launch_bounds__(kThreads) AttendKernel(AttendCall call) {
  constexpr int kWidth = Dims * kThreads;
  __shared__ float queries[kHeads][kWidth];
  __shared__ float weights[kHeads][kThreads];
  __shared__ float warp_maxima[2][kHeads], warp_sums[2][kHeads];
  const uint32_t thread = threadIdx.x, warp = thread / kWarp, width = call.cache.width;
  const uint32_t group = call.heads / call.kv_heads, parts = PiecesOf(group, kHeads);
  const uint32_t kv_head = blockIdx.y / parts, first_head = kv_head * group + blockIdx.y % parts * kHeads;
  const uint32_t left = (kv_head + 1) * group - first_head, heads = left < kHeads ? left : kHeads;
  const Row row = call.rows[blockIdx.x];
  const uint64_t seen = call.FirstSeen(row.position), first_segment = seen / kAttentionSegment;
  const uint64_t segments = row.position / kAttentionSegment + 1 - first_segment;
  for (uint32_t i = thread; i < heads * width; i += kThreads) {
    queries[i / width][i % width] = Operand<Type>(call.queries.at(blockIdx.x, first_head + i / width)[i % width]);
  }
  __syncthreads();

  State<Dims> totals[kHeads];
  for (uint64_t segment = blockIdx.z; segment < segments; segment += gridDim.z) {
    const uint64_t start = (first_segment + segment) * kAttentionSegment;
    const uint8_t* keys = call.cache.KeysFrom(row.slot, kv_head, start);
    const uint8_t* values = call.cache.ValuesFrom(row.slot, kv_head, start);
    // What the row sees of the segment, from its start.
    const auto from = static_cast<uint32_t>(seen > start ? seen - start : 0);
    const uint64_t stop = row.position + 1 - start;
    const auto to = static_cast<uint32_t>(stop < kAttentionSegment ? stop : kAttentionSegment);
    State<Dims> states[kHeads];
    // Two waits a block are enough: nobody writes again what others still read before both have passed one of them.
    for (uint32_t block = from / kThreads * kThreads; block < to; block += kThreads) {
      const uint32_t position = block + thread;
      const bool is_seen = position >= from && position < to;
      float scores[kHeads] = {};
      if (is_seen) {
        AddScores<Type>(keys + position / kKeyGroup * kKeyGroup * CacheKeyBytes<Type>(width), position % kKeyGroup,
                        width, queries, heads, scores);
      }
#pragma unroll
      for (uint32_t h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
        if (call.cap != 0) scores[h] = SoftCap(scores[h], call.cap);
        if (!is_seen) scores[h] = kLowest;
        const float maximum = WarpMax(scores[h]);
        if (thread % kWarp == 0) warp_maxima[warp][h] = maximum;
      }
      __syncthreads();
#pragma unroll
      for (uint32_t h = 0; h < kHeads; ++h) {
        if (h >= heads) break;
        State<Dims>& state = states[h];
        const float maximum = fmaxf(state.maximum, fmaxf(warp_maxima[0][h], warp_maxima[1][h]));
        const float correction = Exp2(state.maximum - maximum);
        state.maximum = maximum;
        state.sum *= correction;
#pragma unroll
        for (int i = 0; i < Dims; ++i) state.values[i] *= correction;
        const float weight = is_seen ? Exp2(scores[h] - maximum) : 0.0f;
        weights[h][thread] = Operand<Type>(weight);
        const float sum = WarpSum(weight);
        if (thread % kWarp == 0) warp_sums[warp][h] = sum;
      }
      __syncthreads();
      const uint32_t begin = from > block ? from - block : 0, end = to - block < kThreads ? to - block : kThreads;
#pragma unroll
      for (uint32_t h = 0; h < kHeads; ++h) {
        if (h < heads) states[h].sum += warp_sums[0][h] + warp_sums[1][h];
      }
#pragma unroll
      for (int i = 0; i < Dims; ++i) {
        const uint32_t d = thread + i * kThreads;
        if (d >= width) break;
#pragma unroll 4
        for (uint32_t p = begin; p < end; ++p) {
          const float value = ValueAt<Type>(values, width, block + p, d);
#pragma unroll
          for (uint32_t h = 0; h < kHeads; ++h) {
            if (h < heads) states[h].values[i] = fmaf(weights[h][p], value, states[h].values[i]);
          }
        }
      }
    }
#pragma unroll
    for (uint32_t h = 0; h < kHeads; ++h) {
      if (h >= heads) break;
      if (!call.states) {
        if (segment == 0) {
          totals[h] = states[h];
        } else {
          totals[h].Merge(states[h]);
        }
        continue;
      }
      float* state = call.StateOf(blockIdx.x, segment, first_head + h);
#pragma unroll
      for (int i = 0; i < Dims; ++i) {
        if (thread + i * kThreads < width) state[thread + i * kThreads] = states[h].values[i];
      }
      if (thread == 0) state[width] = states[h].maximum, state[width + 1] = states[h].sum;
    }
  }
  if (call.states) return;
#pragma unroll
  for (uint32_t h = 0; h < kHeads; ++h) {
    if (h >= heads) break;
    float* out = call.out.at(blockIdx.x, first_head + h);
#pragma unroll
    for (int i = 0; i < Dims; ++i) {
      if (thread + i * kThreads < width) out[thread + i * kThreads] = totals[h].values[i] / totals[h].sum;
    }
  }
}

// The segments of a head of a row in order.
template <int Dims>
__global__ void __launch_bounds__(kThreads) MergeKernel(AttendCall call) {
  const uint32_t width = call.cache.width;
  const uint64_t position = call.rows[blockIdx.x].position;
  const uint64_t segments = position / kAttentionSegment + 1 - call.FirstSeen(position) / kAttentionSegment;
  State<Dims> total;
  for (uint64_t segment = 0; segment < segments; ++segment) {
    const float* from = call.StateOf(blockIdx.x, segment, blockIdx.y);
    State<Dims> state;
    state.maximum = from[width], state.sum = from[width + 1];
#pragma unroll
    for (int i = 0; i < Dims; ++i) {
      if (threadIdx.x + i * kThreads < width) state.values[i] = from[threadIdx.x + i * kThreads];
    }
    if (segment == 0) {
      total = state;
    } else {
      total.Merge(state);
    }
  }
  float* out = call.out.at(blockIdx.x, blockIdx.y);
#pragma unroll
  for (int i = 0; i < Dims; ++i) {
    if (threadIdx.x + i * kThreads < width) out[threadIdx.x + i * kThreads] = total.values[i] / total.sum;
  }
}

template <int Dims>
void AttendWith(const Attend& op, AttendCall call, const CudaCall& rows, float* states) noexcept {
  // Of the longest row; one that sees a window may begin in the middle of a segment.
  const uint64_t longest = rows.step.longest_of(rows.set), window = call.window;
  uint64_t segments = (longest + kAttentionSegment - 1) / kAttentionSegment;
  if (window != 0) segments = std::min(segments, (window + kAttentionSegment - 2) / kAttentionSegment + 1);
  const bool split = segments > 1 && segments * rows.count() <= CudaSegments(op);
  if (split) {
    call.states = states;
    call.most_segments = static_cast<uint32_t>(segments);
  }
  constexpr uint64_t kMostBlocks = 32768;  // of the third dimension
  const uint32_t parts = call.kv_heads * PiecesOf(call.heads / call.kv_heads, kHeads);
  const dim3 grid(rows.count(), parts, split ? static_cast<uint32_t>(std::min(segments, kMostBlocks)) : 1);
  ForCacheType(op.cache.type,
               [&]<CacheType Type>() { Launch(rows.queue, grid, kThreads, AttendKernel<Type, Dims>, call); });
  if (split) Launch(rows.queue, dim3(rows.count(), call.heads), kThreads, MergeKernel<Dims>, call);
}

}  // namespace

uint64_t CudaSegments(const Attend& op) {
  return std::max<uint64_t>(kLeastCudaSegments, PiecesOf(op.cache.capacity, kAttentionSegment));
}

void RunOnCuda(const Attend& op, const CudaCall& call, float* states) noexcept {
  const uint64_t width = op.queries.extent(2);
  const AttendCall attend{call.rows(),
                          RowsOf(op.queries),
                          RowsOf(op.out),
                          CacheOf(op.cache, width),
                          static_cast<uint32_t>(op.queries.extent(1)),
                          static_cast<uint32_t>(op.cache.keys.extent(1)),
                          op.cache.window,
                          op.cap,
                          nullptr,
                          0};
  if (width <= kThreads) return AttendWith<1>(op, attend, call, states);
  if (width <= 2 * kThreads) return AttendWith<2>(op, attend, call, states);
  if (width <= 4 * kThreads) return AttendWith<4>(op, attend, call, states);
  AttendWith<8>(op, attend, call, states);
}

}  // namespace owml::native
