// What a CUDA device starts for each operation of a graph: one launch or a few, on its queue, over the rows of a step.
// Implemented beside the kernels in the .cu files, called by cuda_device.cpp.
#pragma once

#include <cstdint>

#include "backend/native/device/cuda/cuda_queue.h"
#include "backend/native/device/step.h"

namespace owml::native {

// A step in the memory of the device.
struct CudaStep {
  const Row* rows[2] = {};  // by RowSet
  uint32_t count[2] = {};
  uint64_t longest[2] = {};                 // positions up to the last of any row
  const uint32_t* read_from = nullptr;      // as Step::read_from
  const RowResult* results = nullptr;       // as Step::results
  const RowResult* host_results = nullptr;  // the same on the host
  uint32_t best_count = 0;

  const Row* rows_of(RowSet set) const { return rows[static_cast<size_t>(set)]; }
  uint32_t count_of(RowSet set) const { return count[static_cast<size_t>(set)]; }
  uint64_t longest_of(RowSet set) const { return longest[static_cast<size_t>(set)]; }
};

// Numbers of a row, as many as a launch has blocks of threads for.
inline constexpr uint64_t kMaxCudaWidth = uint64_t{65535} * 256;

// Rows of a step and what goes through them; at least one.
struct CudaCall {
  const CudaStep& step;
  RowSet set;
  CudaQueue& queue;

  uint32_t count() const { return step.count_of(set); }
  const Row* rows() const { return step.rows_of(set); }
};

// rows.cu
void RunOnCuda(const Angles& op, const CudaCall& call) noexcept;
void RunOnCuda(const RmsNorm& op, const CudaCall& call) noexcept;
void RunOnCuda(const Quantize& op, const CudaCall& call) noexcept;
void RunOnCuda(const AddVector& op, const CudaCall& call) noexcept;
void RunOnCuda(const AddScaled& op, const CudaCall& call) noexcept;
void RunOnCuda(const Scale& op, const CudaCall& call) noexcept;
void RunOnCuda(const Activate& op, const CudaCall& call) noexcept;
void RunOnCuda(const Rotate& op, const CudaCall& call) noexcept;
void RunOnCuda(const TakeRows& op, const CudaCall& call) noexcept;

// cache.cu
void RunOnCuda(const Append& op, const CudaCall& call) noexcept;

// products.cu. `count` rows from `first` on; out rows lie `out_stride` floats apart.
struct CudaProduct {
  const Matrix& matrix;
  const Tensor& x;
  uint32_t first = 0;
  uint32_t count = 0;
  float* out = nullptr;
  uint64_t out_stride = 0;
  bool accumulate = false;
};
void MultiplyOnCuda(const CudaProduct& product, CudaQueue& queue) noexcept;
void RunOnCuda(const MatMul& op, const CudaCall& call) noexcept;
// `scratch`: two products, [2, n, F] floats.
void RunOnCuda(const GateUp& op, const CudaCall& call, float* scratch) noexcept;

// attention.cu. States of so many segments of single rows that are attended side by side, [segments, H, width + 2].
inline constexpr uint64_t kLeastCudaSegments = 512;
uint64_t CudaSegments(const Attend& op);
inline constexpr uint64_t kMaxCudaHeadWidth = 512;
void RunOnCuda(const Attend& op, const CudaCall& call, float* states) noexcept;

// head.cu. `scratch`: logits of so many rows at a time, [rows, V].
inline constexpr uint32_t kCudaHeadRows = 32;
void RunOnCuda(const Head& op, const CudaCall& call, float* scratch) noexcept;

}  // namespace owml::native
