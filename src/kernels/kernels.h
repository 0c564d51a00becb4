// The table of kernels of one instruction set: transformer maths on plain pointers, without allocation or exception.
// Called by engines; every set gives the same bits, because lanes are rows, positions or columns that are summed in one
// order (docs/decisions/0011-panels-and-exactness.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cache_type.h"
#include "kernels/isa.h"
#include "kernels/panel.h"
#include "kernels/weight_type.h"

namespace owml::kernels {

// 32 activations as bytes: value = scale * values[i]. A block that holds a NaN or an infinity has a NaN scale.
struct Q8Block {
  float scale;
  float scaled_sum;     // scale * sum of values
  int32_t minus_sum;    // minus the sum of values
  int32_t minus_first;  // minus the sum of the first 16
  int8_t values[kBlock];
};

// out[token][row] (+)= sum over columns of weight[row][column] * x[token][column].
struct MatmulCall {
  const std::byte* panels;  // of the rows that are computed
  size_t rows;
  size_t columns;
  const Q8Block* q8;  // [tokens][columns / 32] for quantized weights
  const float* f32;   // [tokens][columns] for the others
  size_t tokens;
  float* out;
  size_t out_stride;  // floats from one token to the next
  bool accumulate;    // adds to what is there
  // What the same thread reads after these rows, fetched meanwhile where many tokens leave time for it; may be empty.
  std::span<const std::byte> next = {};
};

// From so many tokens on weights are unpacked once for all of them.
inline constexpr size_t kGemmTokens = 24;

// Online softmax goes through absolute blocks of so many positions. Longer ranges are split at segments, whose results
// are merged in order, so that the result does not depend on who computes what.
inline constexpr size_t kAttentionBlock = 64;
inline constexpr size_t kAttentionSegment = 512;

// Query rows of a call: heads of one token or of a few neighbours that share a KV head.
inline constexpr size_t kMaxAttendRows = 32;

// Rows of a call that go through the cache together: as many as registers hold sums of.
inline constexpr size_t kRowsTogether = 6;

// Softmax of a range in the making: sums of [PaddedWidth] values, the score that weights are relative to in front of 16
// numbers, then 16 sums of weights, which together are the sum of all.
constexpr size_t AttentionStateSize(size_t width) { return PaddedWidth(width) + 32; }

// Keys and values of kAttentionSegment positions of one KV head.
struct AttentionSegment {
  const std::byte* keys;
  const std::byte* values;
};

// Weights are 2^score: what makes scores of queries and keys in natural units, and log2(e), is in the queries.
// Positions count from the start of the first segment. Rows see those from `firsts` to before `ends`; the ends lie in
// one block of the last segment, and what rows see begins in one block of the first.
struct AttendCall {
  const float* queries[kMaxAttendRows];  // [width], whose products with keys are scores
  size_t firsts[kMaxAttendRows];
  size_t ends[kMaxAttendRows];
  size_t rows;  // at least 1
  size_t width;
  const AttentionSegment* segments;
  float cap;      // scores become cap * tanh(score / cap); 0 leaves them
  float* states;  // [rows][AttentionStateSize], written; where the call continues, of the segments before
  bool continues;
  float* parts;  // [kRowsTogether][AttentionStateSize], for the call's own use where segments are merged
};

// Multiplications and additions of a round of probe_multiply.
inline constexpr uint64_t kProbeOperations = 16 * 64 * 2;

struct Kernels {
  Isa isa;

  void (*matmul[kWeightTypes])(const MatmulCall& call);

  // `count` is a multiple of 32.
  void (*quantize)(const float* x, size_t count, Q8Block* out);

  // out = x / sqrt(mean(x^2) + epsilon) * weight
  void (*rms_norm)(const float* x, const float* weight, size_t count, float epsilon, float* out);

  // gate = gate / (1 + exp(-gate)) * up
  void (*silu_multiply)(float* gate, const float* up, size_t count);
  // gate = gate / 2 * (1 + tanh(sqrt(2 / pi) * (gate + 0.044715 * gate^3))) * up
  void (*gelu_multiply)(float* gate, const float* up, size_t count);

  // Rotates neighbouring pairs: x[2i], x[2i+1] by an angle whose cosine stands twice in `cosines` and whose sine stands
  // in `sines` as -sin, +sin. `count` is even.
  void (*rotate_pairs)(float* x, const float* cosines, const float* sines, size_t count);

  // Rotates pairs that lie apart: x[i], x[count / 2 + i] by an angle with cosines[i], sines[i].
  void (*rotate_halves)(float* x, const float* cosines, const float* sines, size_t count);

  // x *= factor
  void (*scale)(float* x, float factor, size_t count);
  // x += factor * y
  void (*add_scaled)(float* x, const float* y, float factor, size_t count);
  // x = cap * tanh(x / cap)
  void (*soft_cap)(float* x, float cap, size_t count);

  // Into the cache of one KV head, whose first position `keys` and `values` point to; by CacheType.
  void (*store_key[kCacheTypes])(const float* key, size_t width, std::byte* keys, size_t position);
  void (*store_value[kCacheTypes])(const float* value, size_t width, std::byte* values, size_t position);

  // The states of rows; by CacheType.
  void (*attend[kCacheTypes])(const AttendCall& call);
  // total = total and the segment of `part`, which follows.
  void (*merge_attention)(float* total, const float* part, size_t width);
  void (*finish_attention)(const float* state, size_t width, float* out);

  // Limits of the machine. Reads `count` bytes, at least 256; multiplies 64 bytes at `operands`, of at most 15,
  // by 32 behind them, kProbeOperations for each round. The results only keep the work from being left out.
  uint64_t (*probe_read)(const std::byte* from, size_t count);
  uint64_t (*probe_multiply)(const std::byte* operands, size_t rounds);

  auto Matmul(WeightType type) const { return matmul[static_cast<size_t>(type)]; }
};

// One of UsableIsas().
const Kernels& KernelsFor(Isa isa);

}  // namespace owml::kernels
