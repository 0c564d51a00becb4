// A device whose addresses are no pointers, as those of a GPU: whoever follows one outside of it crashes, and every
// byte crosses by a copy.
#include "backend/native/device/device.h"

#include <gmock/gmock.h>

#include <cstring>

#include "backend/native/device/cpu_device.h"
#include "backend/native/moved_job.h"
#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"
#include "backend/native/sequences_fixture.h"
#include "base/error.h"

namespace owml::test {
namespace {

using namespace owml::native;  // NOLINT

// No address of a process.
constexpr DeviceAddress kFar = DeviceAddress{1} << 62;

struct Crossings {
  uint64_t in = 0, out = 0;  // bytes
  uint64_t fences = 0;
  uint64_t break_at = 0;  // the fence that fails; 0 = none
};

// The processor, with everything moved.
class DistantDevice final : public native::Device {
 public:
  explicit DistantDevice(Crossings* crossings)
      : crossings_(*crossings), cpu_(2, kernels::KernelsFor(kernels::ChosenIsa())) {}

  bool uses_host_memory() const override { return false; }
  uint32_t threads() const override { return cpu_.threads(); }

  DeviceMemory Allocate(uint64_t bytes, const std::string& purpose) override {
    DeviceMemory memory = cpu_.Allocate(bytes, purpose);
    memory.address += kFar;
    return memory;
  }
  DeviceMemory Share(std::span<const std::byte> bytes, std::shared_ptr<const void>) override {
    DeviceMemory memory = Allocate(bytes.size(), "a copy");
    CopyIn(memory.address, bytes);
    return memory;
  }
  DeviceMemory ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override {
    return Share(bytes, std::move(owner));
  }
  void CopyIn(DeviceAddress to, std::span<const std::byte> from) override {
    crossings_.in += from.size();
    cpu_.CopyIn(Near(to), from);
  }
  void CopyOut(std::span<std::byte> to, DeviceAddress from) override {
    crossings_.out += to.size();
    cpu_.CopyOut(to, Near(from));
  }
  void Prepare(const Job& job) override { cpu_.Prepare(Near(job)); }
  void Begin(const Step& step) noexcept override {
    step_ = step;
    results_.clear();
    for (const RowResult& result : step.results) results_.push_back({Near(result.logits), Near(result.best)});
    step_.results = results_;
    cpu_.Begin(step_);
  }
  void Run(const Job& job, JobTimes* times) noexcept override { cpu_.Run(Near(job), times); }
  void Fence() override {
    if (++crossings_.fences == crossings_.break_at) throw Error(E_FAIL, "the device broke");
  }

 private:
  static DeviceAddress Near(DeviceAddress address) {
    if (address == 0 || IsUnplaced(address)) return address;
    if (address < kFar) std::abort();  // a pointer of the host
    return address - kFar;
  }
  static Job Near(const Job& job) {
    return MovedJob(job, [](DeviceAddress address) { return Near(address); });
  }

  Crossings& crossings_;
  CpuDevice cpu_;
  Step step_;
  std::vector<RowResult> results_;
};

class DeviceTest : public testing::TestWithParam<RandomModel> {
 protected:
  void SetUp() override { weights_ = LoadWeights(folder_.Write("m.gguf", RandomModelFile(GetParam()).Bytes())); }

  TemporaryFolder folder_;
  std::shared_ptr<const ModelWeights> weights_;
};

TEST_P(DeviceTest, NoAddressIsFollowedOutsideTheDevice) {
  const ForwardSettings settings{.capacity = 300, .batch_size = 32, .threads = 2};
  Forward near(weights_, settings, kernels::KernelsFor(kernels::ChosenIsa()));
  Crossings crossings;
  Forward far(weights_, settings, std::make_unique<DistantDevice>(&crossings));
  EXPECT_GE(crossings.in, weights_->memory().size());
  EXPECT_EQ(crossings.out, 0u);

  const auto tokens = RandomTokens(100, kTinyVocabulary);
  const uint64_t row = kTinyVocabulary * sizeof(float);
  for (const auto& [rows, count] : {std::pair{LogitRows::kNone, 0u}, {LogitRows::kLast, 1u}, {LogitRows::kAll, 100u}}) {
    const SequenceTokens sequence{.slot = 0, .position = 0, .tokens = tokens, .rows = rows};
    std::vector<float> expected(count * kTinyVocabulary), logits(expected.size());
    near.Run({&sequence, 1}, {expected});
    const Crossings before = crossings;
    far.Run({&sequence, 1}, {logits});
    EXPECT_EQ(logits, expected);
    EXPECT_EQ(crossings.in, before.in);
    EXPECT_EQ(crossings.out - before.out, count * row);
    EXPECT_EQ(crossings.fences - before.fences, 4u);  // one for each batch
  }
}

// Which heads and segments a thread takes depends on the nodes of the threads.
TEST_P(DeviceTest, TheNodesOfThreadsChangeNoBit) {
  const ForwardSettings settings{.capacity = 1200, .batch_size = 256, .threads = 3};
  const kernels::Kernels& kernels = kernels::KernelsFor(kernels::ChosenIsa());
  Forward one(weights_, settings, kernels);
  const auto tokens = RandomTokens(1105, kTinyVocabulary);
  const auto logits_of = [&](Forward& forward) {
    std::vector<float> logits(6 * kTinyVocabulary);
    std::span<float> out(logits);
    for (uint64_t at = 0, count = 1100; at < tokens.size(); at += count, count = 1) {
      const SequenceTokens sequence{
          .slot = 0, .position = at, .tokens = std::span(tokens).subspan(at, count), .rows = LogitRows::kLast};
      forward.Run({&sequence, 1}, {out.first(kTinyVocabulary)});
      out = out.subspan(kTinyVocabulary);
    }
    return logits;
  };
  const auto expected = logits_of(one);
  for (const uint32_t nodes : {2u, 3u}) {
    std::vector<ThreadPlace> places;  // on any processor
    for (uint32_t thread = 0; thread < 3; ++thread) places.push_back({.processors = {}, .node = thread % nodes});
    Forward spread(weights_, settings, std::make_unique<CpuDevice>(3, kernels, places));
    EXPECT_EQ(logits_of(spread), expected) << nodes << " nodes";
  }
}

TEST_P(DeviceTest, AStepOnADeviceThatFailsChangesNoSequence) {
  Crossings crossings;
  Sequences sequences(weights_, {.capacity = 300, .batch_size = 32, .threads = 2},
                      std::make_unique<DistantDevice>(&crossings));
  const uint32_t slot = *sequences.Add();
  const auto tokens = RandomTokens(100, kTinyVocabulary);
  const std::span<const int32_t> all(tokens);
  const auto expected = Append(sequences, slot, all);
  sequences.RewindTo(slot, 0);
  Append(sequences, slot, all.first(10));
  crossings.break_at = crossings.fences + 2;  // in the second of three batches
  EXPECT_THAT([&] { Append(sequences, slot, all.subspan(10)); },
              testing::Throws<Error>(testing::Property(&Error::code, E_FAIL)));
  EXPECT_EQ(sequences.position(slot), 10u);
  EXPECT_EQ(Append(sequences, slot, all.subspan(10)), expected);
}

std::string DeviceName(const testing::TestParamInfo<RandomModel>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Model, DeviceTest, testing::ValuesIn(RandomModels()), DeviceName);

}  // namespace
}  // namespace owml::test
