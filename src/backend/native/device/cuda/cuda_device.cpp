// Jobs to launches. What a step tells crosses in one copy.
// Everything beside the tensors is reserved when a job is prepared, so that running takes no memory.
#include "backend/native/device/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace owml::native {
namespace {

template <class T>
T* Pointer(DeviceAddress address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// Room of one row in what a step tells, each part from a multiple of 16 bytes on.
constexpr uint64_t kStepRowBytes = 2 * sizeof(Row) + sizeof(RowResult) + 16;
static_assert(sizeof(Row) % 16 == 0 && sizeof(RowResult) % 16 == 0);

void RequireAtMost(uint64_t most, uint64_t count, const std::string& what) {
  if (count <= most) return;
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              what + std::to_string(count) + " are more than the " + std::to_string(most) + " that CUDA takes here");
}

uint64_t LongestOf(std::span<const Row> rows) {
  uint64_t longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.position + 1);
  return longest;
}

}  // namespace

DeviceMemory CudaDevice::Allocate(uint64_t bytes, const std::string& purpose) {
  return AllocateOnCuda(queue_, bytes, purpose);
}

DeviceMemory CudaDevice::Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return SharedOnCuda(queue_, bytes, std::move(owner));
}

// Under its address on the host.
DeviceMemory CudaDevice::ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return {reinterpret_cast<uintptr_t>(bytes.data()), bytes.size(), std::move(owner)};
}

void CudaDevice::CopyIn(DeviceAddress to, std::span<const std::byte> from) { CopyToCuda(queue_, to, from); }

void CudaDevice::CopyOut(std::span<std::byte> to, DeviceAddress from) { CopyFromCuda(queue_, to, from); }

void CudaDevice::Scratch::Reserve(const CudaQueue& queue, uint64_t floats, const char* purpose) {
  if (floats * sizeof(float) <= memory.bytes) return;
  memory = {};
  memory = AllocateOnCuda(queue, floats * sizeof(float), purpose);
}

void CudaDevice::ReserveStep(uint64_t rows) {
  if (rows <= step_rows_) return;
  step_rows_ = 0;
  step_host_.Reserve(queue_, rows * kStepRowBytes, "the tokens of a batch");
  step_memory_ = {};
  step_memory_ = AllocateOnCuda(queue_, rows * kStepRowBytes, "the tokens of a batch");
  step_rows_ = rows;
}

void CudaDevice::Prepare(const Job& job) {
  for (Operation operation : job.operations) {
    ForEachTensor(operation, [&](Tensor& tensor, Access) {
      if (tensor.type() == ElementType::kByte) return;
      RequireAtMost(kMaxCudaWidth, tensor.row_count(), "rows of ");
      ReserveStep(tensor.extent(0));
    });
    if (const auto* embed = std::get_if<Embed>(&operation)) {
      embeddings_.Reserve(queue_, embed->out.bytes(), "the embeddings of a batch");
    }
    if (const auto* gates = std::get_if<GateUp>(&operation)) {
      gates_.Reserve(queue_, 2 * gates->out.extent(0) * gates->gate.rows, "the gates of a batch");
    }
    if (const auto* attend = std::get_if<Attend>(&operation)) {
      const uint64_t heads = attend->queries.extent(1), width = attend->queries.extent(2);
      RequireAtMost(kMaxCudaHeadWidth, width, "heads of ");
      states_.Reserve(queue_, CudaSegments(*attend) * heads * (width + 2), "attention");
    }
    if (const auto* head = std::get_if<Head>(&operation)) {
      RequireAtMost(kMaxCudaWidth, head->matrix.rows, "a vocabulary of ");
      logits_.Reserve(queue_, std::min<uint64_t>(kCudaHeadRows, head->x.extent(0)) * head->matrix.rows, "the head");
    }
  }
}

void CudaDevice::Begin(const Step& step) noexcept {
  queue_.Use();
  step_ = &step;
  uint64_t used = 0;
  const auto put = [&]<class T>(std::span<const T> values) {
    const uint64_t at = std::exchange(used, used + (values.size_bytes() + 15) / 16 * 16);
    if (!values.empty()) std::memcpy(step_host_.data() + at, values.data(), values.size_bytes());
    return Pointer<const T>(step_memory_.address + at);
  };
  on_device_ = {.rows = {put(step.tokens), put(step.read)},
                .count = {static_cast<uint32_t>(step.tokens.size()), static_cast<uint32_t>(step.read.size())},
                .longest = {LongestOf(step.tokens), LongestOf(step.read)},
                .read_from = put(step.read_from),
                .results = put(step.results),
                .host_results = step.results.data(),
                .best_count = step.best_count};
  queue_.Note(cudaMemcpyAsync(Pointer<void>(step_memory_.address), step_host_.data(), used, cudaMemcpyHostToDevice,
                              queue_.stream()));
}

void CudaDevice::RunEmbed(const Embed& op, RowSet set) noexcept {
  if (std::exchange(embeddings_in_use_, true)) queue_.Note(cudaStreamSynchronize(queue_.stream()));
  const std::span<const Row> rows = step_->rows(set);
  const uint64_t width = op.out.extent(1), row_bytes = kernels::RowBytes(op.type, width);
  auto* out = reinterpret_cast<float*>(embeddings_.data());
  for (size_t i = 0; i < rows.size(); ++i, out += width) {
    const auto* from = Pointer<const std::byte>(op.table + static_cast<uint64_t>(rows[i].token) * row_bytes);
    kernels::DequantizeRow(op.type, from, width, out);
    for (uint64_t j = 0; op.factor != 1 && j < width; ++j) out[j] *= op.factor;
  }
  queue_.Note(cudaMemcpyAsync(Pointer<void>(op.out.address()), embeddings_.data(), rows.size() * width * sizeof(float),
                              cudaMemcpyHostToDevice, queue_.stream()));
}

void CudaDevice::Run(const Job& job, JobTimes*) noexcept {
  const CudaCall call{on_device_, job.rows, queue_};
  if (call.count() == 0) return;
  queue_.Use();
  for (const Operation& operation : job.operations) {
    std::visit(
        [&]<class Op>(const Op& op) {
          if constexpr (std::is_same_v<Op, Embed>) {
            RunEmbed(op, job.rows);
          } else if constexpr (std::is_same_v<Op, GateUp>) {
            RunOnCuda(op, call, gates_.data());
          } else if constexpr (std::is_same_v<Op, Attend>) {
            RunOnCuda(op, call, states_.data());
          } else if constexpr (std::is_same_v<Op, Head>) {
            RunOnCuda(op, call, logits_.data());
          } else {
            RunOnCuda(op, call);
          }
        },
        operation);
  }
}

void CudaDevice::Fence() {
  embeddings_in_use_ = false;
  queue_.Wait();
}

}  // namespace owml::native
