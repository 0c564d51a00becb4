// A step takes no memory: everything is reserved when the sequences are made.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"
#include "backend/native/sequences.h"

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

// GCC's instrumented code shows it the standard's operators, which these replace.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// Counts for the whole program. Address sanitizers have an operator of their own where no exception is wanted, whose
// memory only theirs may free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace owml::test {
namespace {

using native::Continuation;
using native::LogitRows;
using native::Sequences;

TEST(AllocationTest, RunningAModelAllocatesNothing) {
  TemporaryFolder folder;
  for (const RandomModel& model : RandomModels()) {
    const auto path = folder.Write(model.name + ".gguf", RandomModelFile(model).Bytes());
    Sequences sequences(LoadWeights(path), {.capacity = 600, .batch_size = 64, .threads = 2, .slots = 2},
                        kernels::KernelsFor(kernels::ChosenIsa()));
    const std::vector<int32_t> tokens = RandomTokens(550, kTinyVocabulary);
    std::vector<float> logits(4 * kTinyVocabulary);
    sequences.Add();
    sequences.Add();
    const std::vector<Continuation> steps[] = {
        {{0, tokens, LogitRows::kNone}},
        {{0, {tokens.data(), 1}, LogitRows::kLast}, {1, {tokens.data(), 90}, LogitRows::kLast}},
        {{1, {tokens.data(), 3}, LogitRows::kAll}, {0, {tokens.data(), 1}, LogitRows::kLast}},
    };
    const size_t before = allocations;
    for (const auto& step : steps) sequences.Step(step, {logits});
    EXPECT_EQ(allocations - before, 0u) << model.name;
  }
}

}  // namespace
}  // namespace owml::test
