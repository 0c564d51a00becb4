// Operations that need nothing of other rows: a block of threads for each row or head, or for a piece of a row.
// See operation.h for shapes.
#include "backend/native/device/cuda/arithmetic.cuh"

namespace owml::native {
namespace {

constexpr uint32_t kPiece = 256;       // numbers of a row that go together
constexpr uint32_t kRowThreads = 128;  // for a whole row or head

__global__ void AnglesKernel(const Row* rows, const double* steps, uint32_t pairs, float magnitude, RopeOrder order,
                             FloatRows cosines, FloatRows sines) {
  const uint32_t pair = blockIdx.y * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  const double angle = static_cast<double>(rows[blockIdx.x].position) * steps[pair];
  const float cosine = magnitude * static_cast<float>(cos(angle));
  const float sine = magnitude * static_cast<float>(sin(angle));
  float *c = cosines.at(blockIdx.x), *s = sines.at(blockIdx.x);
  if (order == RopeOrder::kHalves) {
    c[pair] = cosine;
    s[pair] = sine;
  } else {
    c[2 * pair] = c[2 * pair + 1] = cosine;
    s[2 * pair] = -sine;
    s[2 * pair + 1] = sine;
  }
}

__global__ void __launch_bounds__(kRowThreads)
    RmsNormKernel(FloatRows from, const float* weight, uint32_t width, float epsilon, FloatRows to) {
  __shared__ float sums[kRowThreads / kWarp];
  const float* x = from.at(blockIdx.x, blockIdx.y);
  float* out = to.at(blockIdx.x, blockIdx.y);
  float squares = 0;
  for (uint32_t i = threadIdx.x; i < width; i += kRowThreads) squares = fmaf(x[i], x[i], squares);
  squares = WarpSum(squares);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = squares;
  __syncthreads();
  float sum = 0;
  for (uint32_t warp = 0; warp < kRowThreads / kWarp; ++warp) sum += sums[warp];
  const float factor = 1.0f / sqrtf(sum / static_cast<float>(width) + epsilon);
  for (uint32_t i = threadIdx.x; i < width; i += kRowThreads) out[i] = x[i] * factor * weight[i];
}

// A warp for a block.
__global__ void QuantizeKernel(FloatRows from, uint32_t blocks, kernels::Q8Block* out, uint64_t out_stride) {
  const uint32_t block = (blockIdx.y * blockDim.x + threadIdx.x) / kWarp;
  if (block >= blocks) return;
  QuantizeTo(out + blockIdx.x * out_stride + block, from.at(blockIdx.x)[block * kernels::kBlock + threadIdx.x % kWarp]);
}

// f(row, i) for each number of each row.
template <class F>
__global__ void NumbersKernel(uint32_t width, F f) {
  const uint32_t i = blockIdx.y * blockDim.x + threadIdx.x;
  if (i < width) f(blockIdx.x, i);
}

struct AddVectorTo {
  FloatRows x;
  const float* vector;
  __device__ void operator()(uint32_t row, uint32_t i) const { x.at(row)[i] += vector[i]; }
};
struct AddScaledTo {
  FloatRows x, y;
  float factor;
  __device__ void operator()(uint32_t row, uint32_t i) const {
    float* at = x.at(row) + i;
    *at = fmaf(y.at(row)[i], factor, *at);
  }
};
struct ScaleBy {
  FloatRows x;
  float factor;
  __device__ void operator()(uint32_t row, uint32_t i) const { x.at(row)[i] *= factor; }
};
struct ActivateWith {
  FloatRows gate, up;
  Activation activation;
  __device__ void operator()(uint32_t row, uint32_t i) const {
    float* at = gate.at(row) + i;
    *at = Activated(activation, *at, up.at(row)[i]);
  }
};

template <class F>
void ForNumbers(const CudaCall& call, uint64_t width, const F& f) noexcept {
  Launch(call.queue, dim3(call.count(), PiecesOf(width, kPiece)), kPiece, NumbersKernel<F>,
         static_cast<uint32_t>(width), f);
}

__global__ void RotateKernel(FloatRows x, FloatRows cosines, FloatRows sines, uint32_t rotated, RopeOrder order) {
  float* head = x.at(blockIdx.x, blockIdx.y);
  const float *c = cosines.at(blockIdx.x), *s = sines.at(blockIdx.x);
  for (uint32_t pair = threadIdx.x; pair < rotated / 2; pair += blockDim.x) {
    if (order == RopeOrder::kHalves) {
      const uint32_t other = rotated / 2 + pair;
      const float a = head[pair], b = head[other];
      head[pair] = a * c[pair] - b * s[pair];
      head[other] = fmaf(a, s[pair], b * c[pair]);
    } else {
      const uint32_t first = 2 * pair, second = first + 1;
      const float a = head[first], b = head[second];
      head[first] = fmaf(b, s[first], a * c[first]);
      head[second] = fmaf(a, s[second], b * c[second]);
    }
  }
}

__global__ void TakeRowsKernel(const uint32_t* read_from, const uint32_t* from, uint64_t from_stride, uint32_t* to,
                               uint64_t to_stride, uint32_t words) {
  const uint32_t* source = from + read_from[blockIdx.x] * from_stride;
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) to[blockIdx.x * to_stride + i] = source[i];
}

}  // namespace

void RunOnCuda(const Angles& op, const CudaCall& call) noexcept {
  const auto pairs = static_cast<uint32_t>(op.cosines.extent(1) / 2);
  Launch(call.queue, dim3(call.count(), PiecesOf(pairs, kPiece)), kPiece, AnglesKernel, call.rows(),
         OnDevice<const double>(op.steps), pairs, op.magnitude, op.order, RowsOf(op.cosines), RowsOf(op.sines));
}

void RunOnCuda(const RmsNorm& op, const CudaCall& call) noexcept {
  const bool heads = op.x.rank() == 3;
  Launch(call.queue, dim3(call.count(), heads ? static_cast<uint32_t>(op.x.extent(1)) : 1), kRowThreads, RmsNormKernel,
         RowsOf(op.x), OnDevice<const float>(op.weight), static_cast<uint32_t>(op.x.extent(heads ? 2 : 1)), op.epsilon,
         RowsOf(op.out));
}

void RunOnCuda(const Quantize& op, const CudaCall& call) noexcept {
  const auto blocks = static_cast<uint32_t>(op.out.extent(1));
  Launch(call.queue, dim3(call.count(), PiecesOf(blocks, kPiece / kWarp)), kPiece, QuantizeKernel, RowsOf(op.x), blocks,
         OnDevice<kernels::Q8Block>(op.out.address()), op.out.stride(0) / sizeof(kernels::Q8Block));
}

void RunOnCuda(const AddVector& op, const CudaCall& call) noexcept {
  ForNumbers(call, op.x.row_count(), AddVectorTo{RowsOf(op.x), OnDevice<const float>(op.vector)});
}

void RunOnCuda(const AddScaled& op, const CudaCall& call) noexcept {
  ForNumbers(call, op.x.row_count(), AddScaledTo{RowsOf(op.x), RowsOf(op.y), op.factor});
}

void RunOnCuda(const Scale& op, const CudaCall& call) noexcept {
  ForNumbers(call, op.x.row_count(), ScaleBy{RowsOf(op.x), op.factor});
}

void RunOnCuda(const Activate& op, const CudaCall& call) noexcept {
  ForNumbers(call, op.gate.row_count(), ActivateWith{RowsOf(op.gate), RowsOf(op.up), op.activation});
}

void RunOnCuda(const Rotate& op, const CudaCall& call) noexcept {
  Launch(call.queue, dim3(call.count(), static_cast<uint32_t>(op.x.extent(1))), 2 * kWarp, RotateKernel, RowsOf(op.x),
         RowsOf(op.cosines), RowsOf(op.sines), static_cast<uint32_t>(op.cosines.extent(1)), op.order);
}

void RunOnCuda(const TakeRows& op, const CudaCall& call) noexcept {
  constexpr uint64_t kWord = sizeof(uint32_t);
  Launch(call.queue, dim3(call.count()), kPiece, TakeRowsKernel, call.step.read_from,
         OnDevice<const uint32_t>(op.x.address()), op.x.stride(0) / kWord, OnDevice<uint32_t>(op.out.address()),
         op.out.stride(0) / kWord, static_cast<uint32_t>(op.out.row_count() * ElementBytes(op.out.type()) / kWord));
}

}  // namespace owml::native
