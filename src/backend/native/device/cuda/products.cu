// Products of rows with matrices in panels, in two forms that sum alike: for a few rows, where reading the weights is
// the limit, and in tiles for many. The width of a matrix is divided into at most kSpans spans of whole units, each is
// summed from left to right and then the spans in order: side by side by the threads of a block in the one form, one
// after the other by a thread in the other. So a row has the same bits whatever form it is computed in.
#include "backend/native/device/cuda/panel.cuh"

namespace owml::native {
namespace {

constexpr uint32_t kSpans = 16;
constexpr uint32_t kThreads = kSpans * kPanelRows;
constexpr uint32_t kFewRows = 8;
constexpr uint32_t kFloatUnit = 16;  // columns
constexpr uint32_t kTile = 64;       // outputs and rows of a tile

struct ProductCall {
  const uint8_t* panels;
  uint64_t panel_bytes;
  uint32_t outputs, columns;
  const void* x;
  uint32_t rows;
  float* out;
  uint64_t out_stride;
  bool accumulate;

  // Units of a span; the last may have fewer.
  __host__ __device__ static uint32_t SpanUnits(uint32_t units) { return (units + kSpans - 1) / kSpans; }

  __device__ void Store(uint32_t row, uint32_t output, float sum) const {
    float* at = out + row * out_stride + output;
    *at = accumulate ? *at + sum : sum;
  }
};

template <WeightType Type>
constexpr uint32_t UnitColumns() {
  return kernels::IsQuantized(Type) ? static_cast<uint32_t>(kernels::BlockValues(Type)) : kFloatUnit;
}

// Adds units `begin` to `end` of a panel's row to the totals of `Rows` rows from `first` on. Beyond the last row that
// one stands in, and what comes of it is not stored.
template <WeightType Type, int Rows>
__device__ void AddUnits(const ProductCall& call, const uint8_t* panel, uint32_t row, uint32_t begin, uint32_t end,
                         uint32_t first, float (&totals)[Rows]) {
  uint32_t at[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) at[r] = first + r < call.rows ? first + r : call.rows - 1;
  if constexpr (kernels::IsQuantized(Type)) {
    using Panel = QuantizedPanel<Type>;
    const auto* x = static_cast<const Q8Block*>(call.x);
    const uint64_t stride = call.columns / kBlock;
    for (uint32_t unit = begin; unit < end; ++unit) {
      const uint8_t* block = panel + static_cast<uint64_t>(unit) * Panel::kBlockBytes;
      const uint8_t* planes = block + Panel::kHeadBytes + 4 * row;
#pragma unroll 2
      for (uint32_t part = 0; part < Panel::kParts; ++part, planes += Panel::kPlanesBytes) {
        uint32_t words[8];
#pragma unroll
        for (uint32_t g = 0; g < 4; ++g) Panel::Groups(planes, g, &words[g], &words[4 + g]);
        const PanelFactors factors = Panel::Factors(block, row, part);
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
          totals[r] = Panel::Add(totals[r], factors, words, x[at[r] * stride + unit * Panel::kParts + part]);
        }
      }
    }
  } else {
    using Panel = FloatPanel<Type>;
    const auto* x = static_cast<const float*>(call.x);
    const uint32_t stop = end * kFloatUnit < call.columns ? end * kFloatUnit : call.columns;
#pragma unroll 8
    for (uint32_t column = begin * kFloatUnit; column < stop; ++column) {
      const float weight = Panel::Weight(panel, row, column);
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        const float value = x[static_cast<uint64_t>(at[r]) * call.columns + column];
        totals[r] = fmaf(weight, Panel::Activation(value), totals[r]);
      }
    }
  }
}

// A block of threads for a panel: 16 rows of it in each of 16 spans.
template <WeightType Type, int Rows>
__global__ void __launch_bounds__(kThreads) FewRowsKernel(ProductCall call) {
  __shared__ float sums[Rows][kSpans][kPanelRows];
  const uint32_t row = threadIdx.x % kPanelRows, span = threadIdx.x / kPanelRows;
  const uint32_t units = PiecesOf(call.columns, UnitColumns<Type>()), span_units = call.SpanUnits(units);
  const uint32_t begin = span * span_units, end = begin + span_units < units ? begin + span_units : units;
  float totals[Rows] = {};
  AddUnits<Type, Rows>(call, call.panels + blockIdx.x * call.panel_bytes, row, begin, end, blockIdx.y * Rows, totals);
#pragma unroll
  for (int r = 0; r < Rows; ++r) sums[r][span][row] = totals[r];
  __syncthreads();
  const uint32_t spans = PiecesOf(units, span_units);
  for (uint32_t i = threadIdx.x; i < Rows * kPanelRows; i += kThreads) {
    const uint32_t r = i / kPanelRows, output = blockIdx.x * kPanelRows + i % kPanelRows;
    if (blockIdx.y * Rows + r >= call.rows || output >= call.outputs) continue;
    float sum = sums[r][0][i % kPanelRows];
    for (uint32_t s = 1; s < spans; ++s) sum += sums[r][s][i % kPanelRows];
    call.Store(blockIdx.y * Rows + r, output, sum);
  }
}

// The spans of one output, one after the other.
struct SpanSum {
  float total = 0, sum = 0;
  bool first = true;

  __device__ void EndSpan() {
    sum = first ? total : sum + total;
    total = 0;
    first = false;
  }
};

// 4 panels and 64 rows; a thread has one row of each panel, and every 16th row of x.
template <WeightType Type>
__global__ void __launch_bounds__(kThreads) QuantizedTileKernel(ProductCall call) {
  using Panel = QuantizedPanel<Type>;
  struct Weights {
    uint32_t words[8];
    uint32_t space[4];  // keeps vectors of neighbours in different banks
  };
  alignas(16) __shared__ Weights weights[kTile];
  __shared__ PanelFactors factors[kTile];
  alignas(16) __shared__ Q8Block x[kTile];
  const uint32_t low = threadIdx.x % kPanelRows, high = threadIdx.x / kPanelRows;
  const uint32_t panel = blockIdx.x * 4 + high % 4, group = high / 4;  // what this thread loads
  const uint32_t panels = PiecesOf(call.outputs, kPanelRows);
  const uint8_t* from = call.panels + (panel < panels ? panel : panels - 1) * call.panel_bytes;
  const uint32_t first_row = blockIdx.y * kTile;
  const uint64_t stride = call.columns / kBlock;
  const uint32_t span_parts = call.SpanUnits(call.columns / UnitColumns<Type>()) * Panel::kParts;
  SpanSum sums[4][4];
  for (uint32_t part = 0; part < stride; ++part) {
    const uint8_t* block = from + static_cast<uint64_t>(part / Panel::kParts) * Panel::kBlockBytes;
    const uint8_t* planes = block + Panel::kHeadBytes + part % Panel::kParts * Panel::kPlanesBytes + 4 * low;
    Weights& mine = weights[high % 4 * kPanelRows + low];
    Panel::Groups(planes, group, &mine.words[group], &mine.words[4 + group]);
    if (group == 0) factors[high % 4 * kPanelRows + low] = Panel::Factors(block, low, part % Panel::kParts);
    constexpr uint32_t kVectors = sizeof(Q8Block) / sizeof(uint4);
    if (threadIdx.x < kTile * kVectors) {
      const uint32_t row = first_row + threadIdx.x / kVectors;
      const Q8Block* source = static_cast<const Q8Block*>(call.x) + (row < call.rows ? row : call.rows - 1) * stride;
      reinterpret_cast<uint4*>(x)[threadIdx.x] = reinterpret_cast<const uint4*>(source + part)[threadIdx.x % kVectors];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const Weights& row = weights[i * kPanelRows + low];
      const PanelFactors& of_row = factors[i * kPanelRows + low];
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) {
        sums[i][j].total = Panel::Add(sums[i][j].total, of_row, row.words, x[high + 16 * j]);
        if ((part + 1) % span_parts == 0 || part + 1 == stride) sums[i][j].EndSpan();
      }
    }
    __syncthreads();
  }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t output = blockIdx.x * kTile + i * kPanelRows + low;
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t row = first_row + high + 16 * j;
      if (output < call.outputs && row < call.rows) call.Store(row, output, sums[i][j].sum);
    }
  }
}

// 4 panels and 64 rows; a thread has 4 neighbouring outputs of 4 neighbouring rows.
template <WeightType Type>
__global__ void __launch_bounds__(kThreads) FloatTileKernel(ProductCall call) {
  using Panel = FloatPanel<Type>;
  alignas(16) __shared__ float weights[kFloatUnit][kTile];
  alignas(16) __shared__ float x[kFloatUnit][kTile + 4];
  const uint32_t low = threadIdx.x % 16, high = threadIdx.x / 16;
  const uint32_t panels = PiecesOf(call.outputs, kPanelRows), first_row = blockIdx.y * kTile;
  const uint32_t units = PiecesOf(call.columns, kFloatUnit), span_units = call.SpanUnits(units);
  SpanSum sums[4][4];
  for (uint32_t unit = 0; unit < units; ++unit) {
    const uint32_t begin = unit * kFloatUnit;
    const uint32_t count = call.columns - begin < kFloatUnit ? call.columns - begin : kFloatUnit;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t panel = blockIdx.x * 4 + i, row = first_row + high + 16 * i;
      const uint8_t* from = call.panels + (panel < panels ? panel : panels - 1) * call.panel_bytes;
      if (high < count) weights[high][i * kPanelRows + low] = Panel::Weight(from, low, begin + high);
      const float* of_row = static_cast<const float*>(call.x) +
                            static_cast<uint64_t>(row < call.rows ? row : call.rows - 1) * call.columns;
      if (low < count) x[low][high + 16 * i] = Panel::Activation(of_row[begin + low]);
    }
    __syncthreads();
    for (uint32_t column = 0; column < count; ++column) {
      const float4 w4 = *reinterpret_cast<const float4*>(&weights[column][4 * low]);
      const float4 x4 = *reinterpret_cast<const float4*>(&x[column][4 * high]);
      const float w[4] = {w4.x, w4.y, w4.z, w4.w}, v[4] = {x4.x, x4.y, x4.z, x4.w};
#pragma unroll
      for (uint32_t i = 0; i < 4; ++i) {
#pragma unroll
        for (uint32_t j = 0; j < 4; ++j) sums[i][j].total = fmaf(w[i], v[j], sums[i][j].total);
      }
    }
    if ((unit + 1) % span_units == 0 || unit + 1 == units) {
#pragma unroll
      for (uint32_t i = 0; i < 16; ++i) sums[i / 4][i % 4].EndSpan();
    }
    __syncthreads();
  }
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t row = first_row + 4 * high + j;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t output = blockIdx.x * kTile + 4 * low + i;
      if (output < call.outputs && row < call.rows) call.Store(row, output, sums[i][j].sum);
    }
  }
}

template <WeightType Type>
void Multiply(const ProductCall& call, CudaQueue& queue) noexcept {
  const dim3 panels(PiecesOf(call.outputs, kPanelRows));
  if (call.rows == 1) return Launch(queue, panels, kThreads, FewRowsKernel<Type, 1>, call);
  if (call.rows == 2) return Launch(queue, panels, kThreads, FewRowsKernel<Type, 2>, call);
  if (call.rows <= 4) return Launch(queue, panels, kThreads, FewRowsKernel<Type, 4>, call);
  if (call.rows <= kFewRows) return Launch(queue, panels, kThreads, FewRowsKernel<Type, kFewRows>, call);
  const dim3 tiles(PiecesOf(call.outputs, kTile), PiecesOf(call.rows, kTile));
  if constexpr (kernels::IsQuantized(Type)) {
    Launch(queue, tiles, kThreads, QuantizedTileKernel<Type>, call);
  } else {
    Launch(queue, tiles, kThreads, FloatTileKernel<Type>, call);
  }
}

// Gate and up to what the next matrix reads: a warp for 32 numbers of a row.
__global__ void FinishGatesKernel(FloatRows gate, FloatRows up, const float* gate_bias, const float* up_bias,
                                  Activation activation, uint32_t width, FloatRows floats, Q8Block* blocks,
                                  uint64_t blocks_stride) {
  const uint32_t i = blockIdx.y * blockDim.x + threadIdx.x;
  if (i / kWarp * kWarp >= width) return;
  float value = 0;
  if (i < width) {
    const float g = gate.at(blockIdx.x)[i], u = up.at(blockIdx.x)[i];
    value = Activated(activation, gate_bias ? g + gate_bias[i] : g, up_bias ? u + up_bias[i] : u);
  }
  if (blocks) {
    QuantizeTo(blocks + blockIdx.x * blocks_stride + i / kBlock, value);
  } else if (i < width) {
    floats.at(blockIdx.x)[i] = value;
  }
}

}  // namespace

void MultiplyOnCuda(const CudaProduct& product, CudaQueue& queue) noexcept {
  const Matrix& matrix = product.matrix;
  const ProductCall call{OnDevice<const uint8_t>(matrix.panels),
                         kernels::PanelBytes(matrix.type, matrix.columns),
                         static_cast<uint32_t>(matrix.rows),
                         static_cast<uint32_t>(matrix.columns),
                         OnDevice<const void>(product.x.at(product.first)),
                         product.count,
                         product.out,
                         product.out_stride,
                         product.accumulate};
  switch (matrix.type) {
    case WeightType::kF32:
      return Multiply<WeightType::kF32>(call, queue);
    case WeightType::kF16:
      return Multiply<WeightType::kF16>(call, queue);
    case WeightType::kBF16:
      return Multiply<WeightType::kBF16>(call, queue);
    case WeightType::kQ8_0:
      return Multiply<WeightType::kQ8_0>(call, queue);
    case WeightType::kQ4_0:
      return Multiply<WeightType::kQ4_0>(call, queue);
    case WeightType::kQ4_1:
      return Multiply<WeightType::kQ4_1>(call, queue);
    case WeightType::kQ5_0:
      return Multiply<WeightType::kQ5_0>(call, queue);
    case WeightType::kQ5_1:
      return Multiply<WeightType::kQ5_1>(call, queue);
    case WeightType::kQ2_K:
      return Multiply<WeightType::kQ2_K>(call, queue);
    case WeightType::kQ3_K:
      return Multiply<WeightType::kQ3_K>(call, queue);
    case WeightType::kQ4_K:
      return Multiply<WeightType::kQ4_K>(call, queue);
    case WeightType::kQ5_K:
      return Multiply<WeightType::kQ5_K>(call, queue);
    case WeightType::kQ6_K:
      return Multiply<WeightType::kQ6_K>(call, queue);
    case WeightType::kIQ4_NL:
      return Multiply<WeightType::kIQ4_NL>(call, queue);
    case WeightType::kMXFP4:
      return Multiply<WeightType::kMXFP4>(call, queue);
  }
}

void RunOnCuda(const MatMul& op, const CudaCall& call) noexcept {
  MultiplyOnCuda({op.matrix, op.x, 0, call.count(), OnDevice<float>(op.out.address()), op.out.stride(0) / sizeof(float),
                  op.accumulate},
                 call.queue);
}

void RunOnCuda(const GateUp& op, const CudaCall& call, float* scratch) noexcept {
  const uint64_t width = op.gate.rows;
  const FloatRows gate{scratch, width, 0}, up{scratch + call.count() * width, width, 0};
  MultiplyOnCuda({op.gate, op.gate_x, 0, call.count(), gate.data, width, false}, call.queue);
  MultiplyOnCuda({op.up, op.up_x, 0, call.count(), up.data, width, false}, call.queue);
  const bool quantized = op.out.type() == ElementType::kQ8;
  constexpr uint32_t kPiece = 256;
  Launch(call.queue, dim3(call.count(), PiecesOf(width, kPiece)), kPiece, FinishGatesKernel, gate, up,
         OnDevice<const float>(op.gate_bias), OnDevice<const float>(op.up_bias), op.activation,
         static_cast<uint32_t>(width), quantized ? FloatRows{} : RowsOf(op.out),
         quantized ? OnDevice<Q8Block>(op.out.address()) : nullptr, op.out.stride(0) / sizeof(Q8Block));
}

}  // namespace owml::native
