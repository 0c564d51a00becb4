// The operations of a decoder, each with the tensors that it reads and changes. Recorded by graph.h, carried out by a
// device. The first dimension of a tensor is the most rows there can be; how many there are, a step tells.
//
// Shapes: n rows, one for each token, D width, H query heads and K key-value heads of d, F feed-forward width.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "backend/native/graph/tensor.h"
#include "backend/native/model_plan.h"
#include "kernels/cache_type.h"
#include "kernels/kernels.h"
#include "kernels/weight_type.h"

namespace owml::native {

// The rows of a step: one for each token, or for each one that is read, in the same order.
enum class RowSet : uint8_t { kTokens, kRead };

enum class Access : uint8_t { kRead, kWrite, kUpdate };

// A weight matrix in the memory of a device, in panels (kernels/panel.h).
struct Matrix {
  kernels::WeightType type = kernels::WeightType::kF32;
  uint64_t rows = 0;     // outputs
  uint64_t columns = 0;  // inputs
  DeviceAddress panels = 0;

  bool quantized() const { return kernels::IsQuantized(type); }
};

// Keys and values of a layer, [slots, K, segments, bytes of a segment of attention], in the layout of the kernels.
struct CacheLayer {
  kernels::CacheType type = kernels::CacheType::kF16;
  Tensor keys = {};
  Tensor values = {};
  uint64_t capacity = 0;   // positions of a sequence
  uint64_t positions = 0;  // places of a head, a whole number of segments: a position lies at its remainder
  uint32_t window = 0;     // positions that a row sees, itself included; 0 = all

  // Of a head, where the segment that begins at a position lies.
  DeviceAddress KeysFrom(uint64_t slot, uint64_t head, uint64_t position) const {
    return keys.at(slot, head) + position % positions / kernels::kAttentionSegment * keys.stride(2);
  }
  DeviceAddress ValuesFrom(uint64_t slot, uint64_t head, uint64_t position) const {
    return values.at(slot, head) + position % positions / kernels::kAttentionSegment * values.stride(2);
  }
};

// out = factor * the rows of a table that the tokens name; `table` lies as in the file.
struct Embed {
  kernels::WeightType type;
  DeviceAddress table;
  float factor;
  Tensor out;  // [n, D]
  void Tensors(auto&& f) { f(out, Access::kWrite); }
};

// Cosines and sines of the rows' positions, as the rotation of `order` reads them.
struct Angles {
  DeviceAddress steps;  // doubles, radians of each pair for one position
  float magnitude;
  RopeOrder order;
  Tensor cosines, sines;  // [n, rotated]
  void Tensors(auto&& f) { f(cosines, Access::kWrite), f(sines, Access::kWrite); }
};

// out = x / sqrt(mean(x^2) + epsilon) * weight, over the last dimension
struct RmsNorm {
  Tensor x;
  DeviceAddress weight;
  float epsilon;
  Tensor out;  // of the form of x, or x
  void Tensors(auto&& f) { f(x, Access::kRead), f(out, Access::kWrite); }
};

struct Quantize {
  Tensor x;    // [n, D]
  Tensor out;  // [n, D / 32]
  void Tensors(auto&& f) { f(x, Access::kRead), f(out, Access::kWrite); }
};

// x += vector
struct AddVector {
  Tensor x;  // [n, D]
  DeviceAddress vector;
  void Tensors(auto&& f) { f(x, Access::kUpdate); }
};

// x += factor * y
struct AddScaled {
  Tensor x, y;  // [n, D]
  float factor;
  void Tensors(auto&& f) { f(x, Access::kUpdate), f(y, Access::kRead); }
};

// x *= factor
struct Scale {
  Tensor x;  // [n, D]
  float factor;
  void Tensors(auto&& f) { f(x, Access::kUpdate); }
};

// Turns the first `rotated` numbers of each head by the angles of its row.
struct Rotate {
  Tensor x;  // [n, H, d]
  Tensor cosines, sines;
  RopeOrder order;
  void Tensors(auto&& f) { f(x, Access::kUpdate), f(cosines, Access::kRead), f(sines, Access::kRead); }
};

// Keys and values into the cache, at the slots and positions of the rows.
struct Append {
  Tensor keys, values;  // [n, K, d]
  CacheLayer cache;
  void Tensors(auto&& f) { f(keys, Access::kRead), f(values, Access::kRead), f(cache.keys, Access::kUpdate); }
};

// out = the rows of x that are read
struct TakeRows {
  Tensor x;    // [n, ..], of RowSet::kTokens
  Tensor out;  // of RowSet::kRead
  void Tensors(auto&& f) { f(x, Access::kRead), f(out, Access::kWrite); }
};

// out (+)= x W
struct MatMul {
  Tensor x;  // [n, columns], or blocks for a quantized matrix
  Matrix matrix;
  Tensor out;  // [n, rows]
  bool accumulate;
  void Tensors(auto&& f) { f(x, Access::kRead), f(out, accumulate ? Access::kUpdate : Access::kWrite); }
};

// gate = SiLU(gate) * up, or GELU
struct Activate {
  Tensor gate, up;  // [n, F]
  Activation activation;
  void Tensors(auto&& f) { f(gate, Access::kUpdate), f(up, Access::kRead); }
};

// out = SiLU(x Wg + bg) * (x Wu + bu): both products, activation and, where `out` has blocks, quantization, for 32
// outputs at a time. A bias may be missing.
struct GateUp {
  Tensor gate_x, up_x;  // [n, D], or blocks for a quantized matrix
  Matrix gate, up;
  DeviceAddress gate_bias, up_bias;
  Activation activation;
  Tensor out;  // [n, F] or [n, F / 32]
  void Tensors(auto&& f) { f(gate_x, Access::kRead), f(up_x, Access::kRead), f(out, Access::kWrite); }
};

// out = attention of query heads over what their rows see of the cache, with weights of 2^score, where a score is the
// product of a query and a key
struct Attend {
  Tensor queries;  // [n, H, d]
  CacheLayer cache;
  float cap;   // of scores; 0 = none
  Tensor out;  // [n, H, d]
  void Tensors(auto&& f) { f(queries, Access::kRead), f(cache.keys, Access::kRead), f(out, Access::kWrite); }
};

// scale * (x W + bias), capped: rows of logits, or the highest of each, to where the step wants them. No bias and no
// cap where they are 0.
struct Head {
  Tensor x;  // [n, D], or blocks for a quantized matrix
  Matrix matrix;
  DeviceAddress bias;
  float scale;
  float cap;
  uint32_t most_best;  // most of the highest that a step wants of a row
  void Tensors(auto&& f) { f(x, Access::kRead); }
};

using Operation = std::variant<Embed, Angles, RmsNorm, Quantize, AddVector, AddScaled, Scale, Rotate, Append, TakeRows,
                               MatMul, Activate, GateUp, Attend, Head>;

// True where a row of the result needs nothing of other rows of the same set, so that operations may go through rows
// one after the other.
template <class Op>
inline constexpr bool kRowWise = !std::is_same_v<Op, MatMul> && !std::is_same_v<Op, GateUp> &&
                                 !std::is_same_v<Op, Attend> && !std::is_same_v<Op, Head>;

inline bool RowWise(const Operation& operation) {
  return std::visit([]<class Op>(const Op&) { return kRowWise<Op>; }, operation);
}

// f(tensor, access) for all that an operation reads and changes; a cache counts as its keys.
void ForEachTensor(Operation& operation, auto&& f) {
  std::visit([&](auto& op) { op.Tensors(f); }, operation);
}

// What a device does at once: operations that go through rows together, independent products side by side, or one of
// the others.
struct Job {
  std::string name;
  RowSet rows = RowSet::kTokens;
  uint32_t layer = 0;
  std::vector<Operation> operations;
};

}  // namespace owml::native
