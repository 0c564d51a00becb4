// The head: logits of a few rows at a time, which are scaled and capped on their way to where the step wants them, or
// of which the highest are looked for. See best_list.h for their order.
#include <algorithm>

#include "backend/best_tokens.h"
#include "backend/native/device/cuda/arithmetic.cuh"

namespace owml::native {
namespace {

constexpr uint32_t kPiece = 256;
constexpr uint32_t kBestThreads = 512;

__global__ void FinishLogitsKernel(float* logits, uint32_t vocabulary, const float* bias, float scale, float cap,
                                   const RowResult* results) {
  const uint32_t token = blockIdx.y * blockDim.x + threadIdx.x;
  if (token >= vocabulary) return;
  float* at = logits + static_cast<uint64_t>(blockIdx.x) * vocabulary + token;
  float logit = bias ? *at + bias[token] : *at;
  if (scale != 1) logit *= scale;
  if (cap != 0) logit = SoftCap(logit, cap);
  float* wanted = OnDevice<float>(results[blockIdx.x].logits);
  (wanted ? wanted[token] : *at) = logit;
}

// Orders as lists do: a logit that no number can be sampled from first, then the highest, then the lowest token.
__device__ uint64_t KeyOf(float logit, uint32_t token) {
  const bool bad = !(logit <= 3.402823466e38f);
  const uint32_t bits = __float_as_uint(logit + 0.0f);  // the two zeros are one
  const uint32_t order = bad ? 0xFFFFFFFF : bits & 0x80000000 ? ~bits : bits | 0x80000000;
  return static_cast<uint64_t>(order) << 32 | (0xFFFFFFFF - token);
}

// A block of threads for a row: the highest, then the highest behind it, and so on.
__global__ void __launch_bounds__(kBestThreads)
    BestKernel(const float* logits, uint32_t vocabulary, const RowResult* results, uint32_t best_count) {
  __shared__ unsigned long long warp_best[kBestThreads / kWarp];
  TokenLogit* list = OnDevice<TokenLogit>(results[blockIdx.x].best);
  if (!list) return;
  const float* row = logits + static_cast<uint64_t>(blockIdx.x) * vocabulary;
  uint64_t last = UINT64_MAX;
  for (uint32_t rank = 0; rank < best_count; ++rank) {
    unsigned long long best = 0;
    for (uint32_t token = threadIdx.x; token < vocabulary; token += kBestThreads) {
      const uint64_t key = KeyOf(row[token], token);
      if (key > best && key < last) best = key;
    }
    for (uint32_t lanes = kWarp / 2; lanes; lanes /= 2) {
      const unsigned long long other = __shfl_xor_sync(kAllLanes, best, lanes);
      best = other > best ? other : best;
    }
    if (threadIdx.x % kWarp == 0) warp_best[threadIdx.x / kWarp] = best;
    __syncthreads();
    for (uint32_t warp = 0; warp < kBestThreads / kWarp; ++warp) best = warp_best[warp] > best ? warp_best[warp] : best;
    __syncthreads();
    last = best;
    const auto token = static_cast<uint32_t>(0xFFFFFFFF - (best & 0xFFFFFFFF));
    if (threadIdx.x == 0) list[rank] = {static_cast<int32_t>(token), row[token]};
  }
}

}  // namespace

void RunOnCuda(const Head& op, const CudaCall& call, float* scratch) noexcept {
  const auto vocabulary = static_cast<uint32_t>(op.matrix.rows);
  for (uint32_t first = 0; first < call.count(); first += kCudaHeadRows) {
    const uint32_t count = std::min(kCudaHeadRows, call.count() - first);
    MultiplyOnCuda({op.matrix, op.x, first, count, scratch, vocabulary, false}, call.queue);
    const RowResult* results = call.step.results + first;
    Launch(call.queue, dim3(count, PiecesOf(vocabulary, kPiece)), kPiece, FinishLogitsKernel, scratch, vocabulary,
           OnDevice<const float>(op.bias), op.scale, op.cap, results);
    const RowResult* host = call.step.host_results + first;
    if (std::any_of(host, host + count, [](const RowResult& result) { return result.best != 0; })) {
      Launch(call.queue, dim3(count), kBestThreads, BestKernel, static_cast<const float*>(scratch), vocabulary, results,
             call.step.best_count);
    }
  }
}

}  // namespace owml::native
