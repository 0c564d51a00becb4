// Memory in huge pages: aligned, zero, only for what is large and fits.
#include "base/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace owml::test {
namespace {

TEST(HugePages, FewBytesAndMoreThanTheMachineHasAreRefused) {
  EXPECT_EQ(HugePages::Reserve(HugePages::kMinBytes - 1), nullptr);
  EXPECT_EQ(HugePages::Reserve(size_t{1} << 60), nullptr);
  EXPECT_EQ(HugePages::Reserve(SIZE_MAX), nullptr);
}

TEST(HugePages, MemoryIsAlignedZeroAndWritableToItsEnd) {
  constexpr size_t kBytes = HugePages::kMinBytes + 12345;
  const auto memory = HugePages::Reserve(kBytes);
  if (!memory) GTEST_SKIP() << "the system has no transparent huge pages";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % (size_t{2} << 20), 0u);
  EXPECT_TRUE(std::all_of(memory->data(), memory->data() + kBytes, [](std::byte b) { return b == std::byte{0}; }));
  memory->data()[kBytes - 1] = std::byte{1};
}

}  // namespace
}  // namespace owml::test
