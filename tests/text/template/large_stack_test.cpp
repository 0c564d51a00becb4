// Work on a stack of its own.
#include "text/template/large_stack.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace owml {
namespace {

// Uses about a hundred bytes of stack a level.
int Depth(int levels, volatile char* previous) {
  volatile char here[64] = {previous ? previous[0] : char{1}};
  return levels == 0 ? here[0] : Depth(levels - 1, here) + here[0];
}

TEST(LargeStackTest, RecursionThatAnOrdinaryStackCannotHoldRuns) {
  constexpr int kLevels = 300000;
  int answer = 0;
  RunOnLargeStack(size_t{512} << 20, [&] { answer = Depth(kLevels, nullptr); });
  EXPECT_EQ(answer, kLevels + 1);
}

TEST(LargeStackTest, ExceptionsComeBack) {
  EXPECT_THROW(RunOnLargeStack(1 << 20, [] { throw Error(E_FAIL, "no"); }), Error);
}

TEST(LargeStackTest, AStackThatCannotBeHadIsAnError) {
  try {
    RunOnLargeStack(size_t{1} << 60, [] {});
    FAIL() << "a stack of 2^60 bytes was had";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), E_OUTOFMEMORY);
  }
}

}  // namespace
}  // namespace owml
