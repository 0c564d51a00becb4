// Every operation of every model on both devices with the same input: what goes number by number has the CPU's bits,
// what sums, its values up to the rounding of the sums.
#include <algorithm>
#include <cstring>

#include "backend/native/cuda/cuda_fixture.h"
#include "backend/native/device/cpu_device.h"
#include "backend/native/moved_job.h"

namespace owml::test {
namespace {

using namespace owml::native;  // NOLINT

// What an operation left behind may differ by so much of its length. Sums of some hundred numbers in another order.
constexpr double kSums = 2e-6;

// The CPU, with an emulated GPU beside it that does each operation again from what the CPU had before it.
class ComparingDevice final : public native::Device {
 public:
  ComparingDevice() : cpu_(2, kernels::KernelsFor(kernels::ChosenIsa())), gpu_(EmulatedGpu()) {}

  bool uses_host_memory() const override { return false; }
  uint32_t threads() const override { return cpu_.threads(); }
  DeviceMemory Allocate(uint64_t bytes, const std::string& purpose) override {
    DeviceMemory memory = cpu_.Allocate(bytes, purpose);
    std::memset(At(memory.address), 0, bytes);
    changing_.push_back({memory, gpu_->Allocate(bytes, purpose)});
    return memory;
  }
  DeviceMemory Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override {
    const DeviceMemory memory = cpu_.Share(bytes, owner);
    fixed_.push_back({memory, gpu_->Share(bytes, owner)});
    return memory;
  }
  DeviceMemory ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override {
    const DeviceMemory memory = cpu_.ShareTable(bytes, owner);
    fixed_.push_back({memory, gpu_->ShareTable(bytes, owner)});
    return memory;
  }
  void CopyIn(DeviceAddress to, std::span<const std::byte> from) override { cpu_.CopyIn(to, from); }
  void CopyOut(std::span<std::byte> to, DeviceAddress from) override { cpu_.CopyOut(to, from); }
  void Prepare(const Job& job) override {
    cpu_.Prepare(job);
    gpu_->Prepare(OnGpu(job));
  }
  void Begin(const Step& step) noexcept override {
    step_ = step;
    cpu_.Begin(step);
    results_.clear();
    for (const RowResult& result : step.results) results_.push_back({Moved(result.logits), Moved(result.best)});
    gpu_step_ = step;
    gpu_step_.results = results_;
    gpu_->Begin(gpu_step_);
  }
  void Run(const Job& job, JobTimes*) noexcept override {
    for (const Operation& operation : job.operations) {
      for (const Pair& pair : changing_) gpu_->CopyIn(pair.gpu.address, Bytes(pair.cpu));
      const Job single{job.name, job.rows, job.layer, {operation}};
      cpu_.Run(single, nullptr);
      gpu_->Run(OnGpu(single), nullptr);
      gpu_->Fence();
      std::visit([&](const auto& op) { Check(op, job); }, operation);
    }
  }
  void Fence() override { cpu_.Fence(); }

 private:
  struct Pair {
    DeviceMemory cpu, gpu;
  };

  static std::byte* At(DeviceAddress address) { return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address)); }
  static std::span<const std::byte> Bytes(const DeviceMemory& memory) { return {At(memory.address), memory.bytes}; }

  DeviceAddress Moved(DeviceAddress address) const {
    for (const auto* pairs : {&changing_, &fixed_}) {
      for (const Pair& pair : *pairs) {
        const uint64_t offset = address - pair.cpu.address;
        if (offset < pair.cpu.bytes) return pair.gpu.address + offset;
      }
    }
    return address;  // in no memory yet, or none
  }
  Job OnGpu(const Job& job) const {
    return MovedJob(job, [&](DeviceAddress address) { return Moved(address); });
  }

  template <class T>
  std::vector<T> FromGpu(DeviceAddress address, uint64_t count) const {
    std::vector<T> values(count);
    gpu_->CopyOut(std::as_writable_bytes(std::span(values)), Moved(address));
    return values;
  }

  // The rows of the step.
  template <class T>
  void CheckBits(const Tensor& tensor, const Job& job) {
    const uint64_t count = step_.rows(job.rows).size() * tensor.stride(0) / sizeof(T);
    const auto ours = FromGpu<T>(tensor.address(), count);
    EXPECT_EQ(std::memcmp(ours.data(), At(tensor.address()), count * sizeof(T)), 0) << job.name;
  }
  void CheckValues(DeviceAddress address, uint64_t count, double bound, const Job& job) {
    const auto ours = FromGpu<float>(address, count);
    const std::span<const float> expected(reinterpret_cast<const float*>(At(address)), count);
    EXPECT_LT(RelativeDistance(ours, expected), bound) << job.name;
  }
  void CheckRows(const Tensor& tensor, double bound, const Job& job) {
    CheckValues(tensor.address(), step_.rows(job.rows).size() * tensor.row_count(), bound, job);
  }
  // Bytes may fall on the other side of a rounding.
  void CheckBlocks(const Tensor& tensor, const Job& job) {
    const uint64_t count = step_.rows(job.rows).size() * tensor.row_count();
    const auto ours = FromGpu<kernels::Q8Block>(tensor.address(), count);
    const auto* expected = reinterpret_cast<const kernels::Q8Block*>(At(tensor.address()));
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_NEAR(ours[i].scale, expected[i].scale, 1e-5f * expected[i].scale) << job.name;
      int sum = 0, first = 0;
      for (size_t j = 0; j < kernels::kBlock; ++j) {
        ASSERT_NEAR(ours[i].values[j], expected[i].values[j], 1) << job.name;
        sum += ours[i].values[j];
        first += j < kernels::kBlock / 2 ? ours[i].values[j] : 0;
      }
      ASSERT_EQ(ours[i].minus_sum, -sum);
      ASSERT_EQ(ours[i].minus_first, -first);
      ASSERT_EQ(ours[i].scaled_sum, ours[i].scale * static_cast<float>(sum));
    }
  }

  void Check(const Embed& op, const Job& job) { CheckBits<float>(op.out, job); }
  void Check(const Angles& op, const Job& job) { CheckBits<float>(op.cosines, job), CheckBits<float>(op.sines, job); }
  void Check(const Quantize& op, const Job& job) { CheckBits<kernels::Q8Block>(op.out, job); }
  void Check(const AddVector& op, const Job& job) { CheckBits<float>(op.x, job); }
  void Check(const AddScaled& op, const Job& job) { CheckBits<float>(op.x, job); }
  void Check(const Scale& op, const Job& job) { CheckBits<float>(op.x, job); }
  void Check(const Rotate& op, const Job& job) { CheckBits<float>(op.x, job); }
  void Check(const Activate& op, const Job& job) { CheckBits<float>(op.gate, job); }
  void Check(const TakeRows& op, const Job& job) { CheckBits<float>(op.out, job); }
  void Check(const native::Append& op, const Job& job) {
    const kernels::CacheType type = op.cache.type;
    const uint64_t width = op.keys.extent(2), segment = kernels::kAttentionSegment;
    for (const Row& row : step_.rows(job.rows)) {
      for (uint64_t head = 0; head < op.keys.extent(1); ++head) {
        for (const auto& [from, bytes] :
             {std::pair{op.cache.KeysFrom(row.slot, head, row.position), segment * kernels::KeyBytes(type, width)},
              std::pair{op.cache.ValuesFrom(row.slot, head, row.position),
                        segment * kernels::ValueBytes(type, width)}}) {
          ASSERT_EQ(std::memcmp(FromGpu<std::byte>(from, bytes).data(), At(from), bytes), 0) << job.name;
        }
      }
    }
  }
  void Check(const RmsNorm& op, const Job& job) { CheckRows(op.out, kSums, job); }
  void Check(const MatMul& op, const Job& job) { CheckRows(op.out, kSums, job); }
  // A weight that is rounded to BF16 may come out a step of 2^-8 apart.
  void Check(const Attend& op, const Job& job) {
    CheckRows(op.out, op.cache.type == kernels::CacheType::kBF16 ? 0x1p-8 : kSums, job);
  }
  void Check(const GateUp& op, const Job& job) {
    if (op.out.type() == ElementType::kQ8) return CheckBlocks(op.out, job);
    CheckRows(op.out, kSums, job);
  }
  void Check(const Head& op, const Job& job) {
    for (const RowResult& result : step_.results) CheckValues(result.logits, op.matrix.rows, kSums, job);
  }

  CpuDevice cpu_;
  std::unique_ptr<native::Device> gpu_;
  std::vector<Pair> changing_, fixed_;
  Step step_, gpu_step_;
  std::vector<RowResult> results_;
};

class CudaOperationsTest : public testing::Test {
 protected:
  void Run(const std::string& name, const std::string& file, kernels::CacheType cache = kernels::CacheType::kF16) {
    SCOPED_TRACE(name);
    const auto weights = LoadWeights(folder_.Write("m.gguf", file));
    const ForwardSettings settings{.capacity = 64, .batch_size = 64, .threads = 2, .cache_type = cache};
    Sequences sequences(weights, settings, std::make_unique<ComparingDevice>());
    const uint32_t slot = *sequences.Add();
    const auto tokens = RandomTokens(32, kTinyVocabulary);
    Append(sequences, slot, std::span(tokens).first(24), LogitRows::kLast);
    Append(sequences, slot, std::span(tokens).subspan(24, 7), LogitRows::kAll);
    Append(sequences, slot, std::span(tokens).last(1));
  }

  TemporaryFolder folder_;
};

TEST_F(CudaOperationsTest, OfEveryArchitectureGiveTheNumbersOfTheCpu) {
  for (const RandomModel& model : RandomModels()) Run(model.name, RandomModelFile(model).Bytes());
}

TEST_F(CudaOperationsTest, OfEveryTypeOfWeightsGiveTheNumbersOfTheCpu) {
  for (const GgmlType type : {GgmlType::kF32, GgmlType::kF16, GgmlType::kBF16, GgmlType::kQ8_0, GgmlType::kQ4_0,
                              GgmlType::kQ4_1, GgmlType::kQ5_0, GgmlType::kQ5_1, GgmlType::kQ2_K, GgmlType::kQ3_K,
                              GgmlType::kQ4_K, GgmlType::kQ5_K, GgmlType::kQ6_K, GgmlType::kIQ4_NL, GgmlType::kMXFP4}) {
    Run(std::string(InfoOf(type).name), RandomLlama(type));
  }
}

TEST_F(CudaOperationsTest, OfEveryTypeOfCacheGiveTheNumbersOfTheCpu) {
  RandomModel model = RandomModels().front();
  for (const uint32_t width : {16u, 70u, 136u}) {
    model.head_width = width;
    for (const auto type : {kernels::CacheType::kF16, kernels::CacheType::kBF16, kernels::CacheType::kQ8}) {
      Run("heads of " + std::to_string(width), RandomModelFile(model).Bytes(), type);
    }
  }
}

}  // namespace
}  // namespace owml::test
