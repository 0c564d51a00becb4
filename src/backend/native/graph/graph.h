// Operations as they are recorded, one call for a step of the paper, before anything has a place in memory. What they
// mean is what running them in this order gives; schedule.h may find a better one. Filled by decoder_graph.cpp at
// Build.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/native/graph/operation.h"

namespace owml::native {

// Until buffers are planned, the tensors of a graph have addresses of their own: this bit, the number of the buffer and
// an offset in it.
inline constexpr DeviceAddress kUnplaced = DeviceAddress{1} << 63;
inline constexpr uint32_t kBufferShift = 40;

constexpr bool IsUnplaced(DeviceAddress address) { return (address & kUnplaced) != 0; }
constexpr uint32_t BufferOf(DeviceAddress address) {
  return static_cast<uint32_t>((address & ~kUnplaced) >> kBufferShift);
}
// The same for all views of a buffer; what lies in real memory counts by its address.
constexpr DeviceAddress StorageOf(DeviceAddress address) {
  return IsUnplaced(address) ? kUnplaced | BufferOf(address) : address;
}
constexpr uint64_t OffsetInBuffer(DeviceAddress address) { return address & ((DeviceAddress{1} << kBufferShift) - 1); }

class Graph {
 public:
  struct Buffer {
    uint64_t bytes = 0;
    RowSet rows = RowSet::kTokens;
  };
  struct Node {
    Operation operation;
    std::string name;
    RowSet rows = RowSet::kTokens;
    uint32_t layer = 0;
  };
  struct RopeAngles {
    Tensor cosines, sines;
  };

  // Rows are at most `tokens`, of which at most `read` are read.
  Graph(uint64_t tokens, uint64_t read) : most_{tokens, read} {}

  // Operations from now on belong to this layer.
  void BeginLayer(uint32_t layer) { layer_ = layer; }

  // [rows, width]
  Tensor Embed(kernels::WeightType type, DeviceAddress table, uint64_t width, float factor);
  // [rows, rotated]
  RopeAngles Angles(RowSet rows, DeviceAddress steps, uint64_t rotated, float magnitude, RopeOrder order);
  Tensor RmsNorm(const Tensor& x, DeviceAddress weight, float epsilon);
  // Quantizes x where the matrix is, once for all of them.
  Tensor MatMul(const std::string& name, const Tensor& x, const Matrix& matrix);
  Tensor TakeRows(const Tensor& x);
  Tensor Attend(const Tensor& queries, const CacheLayer& cache, float cap);
  // What a step gives; see operation.h.
  void Head(const Tensor& x, const Matrix& matrix, DeviceAddress bias, float scale, float cap, uint32_t most_best);

  // These change the tensor they are given.
  void Normalize(const Tensor& x, DeviceAddress weight, float epsilon);
  void AddVector(const Tensor& x, DeviceAddress vector);
  void AddScaled(const Tensor& x, const Tensor& y, float factor);
  void Scale(const Tensor& x, float factor);
  void Rotate(const Tensor& x, const RopeAngles& angles, RopeOrder order);
  void Append(const Tensor& keys, const Tensor& values, const CacheLayer& cache);
  void Activate(const std::string& name, const Tensor& gate, const Tensor& up, Activation activation);

  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  Tensor NewTensor(RowSet rows, ElementType type, uint64_t width);
  Tensor QuantizedOnce(const Tensor& x);
  Tensor ProductInput(const Tensor& x, const Matrix& matrix);
  RowSet RowsOf(const Tensor& x) const;
  void Record(const std::string& name, RowSet rows, Operation operation);

  struct QuantizedCopy {
    uint64_t changes = 0;  // of the source when it was made
    Tensor blocks;
  };

  uint64_t most_[2];  // rows, by RowSet
  uint32_t layer_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<uint64_t> changes_;  // of each buffer
  std::vector<Node> nodes_;
  std::map<DeviceAddress, QuantizedCopy> quantized_;
};

}  // namespace owml::native
