// A forward pass takes no memory: everything is reserved when it is made.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backend/native/architectures/architectures.h"
#include "backend/native/forward.h"
#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

// Counts for the whole program.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace owml::test {
namespace {

using native::Forward;
using native::LogitRows;

TEST(AllocationTest, RunningAModelAllocatesNothing) {
  TemporaryFolder folder;
  for (const RandomModel& model : RandomModels()) {
    const auto path = folder.Write(model.name + ".gguf", RandomModelFile(model).Bytes());
    auto files = std::make_shared<const GgufModelFiles>(OpenGgufModel(path));
    const std::shared_ptr<const std::vector<GgufFile>> list(files, &files->files);
    const native::ModelPlan plan = native::PlanOf(list->front());
    const auto weights =
        std::make_shared<const native::ModelWeights>(list, nullptr, plan, native::FindTensors(*list, plan));
    Forward forward(weights, {.capacity = 600, .batch_size = 64, .threads = 2},
                    kernels::KernelsFor(kernels::ChosenIsa()));
    const auto tokens = RandomTokens(550, kTinyVocabulary);
    std::vector<float> logits(3 * kTinyVocabulary);
    const size_t before = allocations;
    forward.Run(tokens, 0, LogitRows::kNone, nullptr);
    forward.Run({tokens.data(), 1}, 550, LogitRows::kLast, logits.data());
    forward.Run({tokens.data(), 3}, 551, LogitRows::kAll, logits.data());
    EXPECT_EQ(allocations - before, 0u) << model.name;
  }
}

}  // namespace
}  // namespace owml::test
