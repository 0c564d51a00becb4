// CoTaskMem memory and the arrays and strings that are given away with it.
// Called as an application calls them.
#include <gtest/gtest.h>
#include <objbase.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "com/co_task_array.h"
#include "com/wide.h"

namespace owml::test {
namespace {

TEST(CoTaskMem, AllocatesGrowsAndFrees) {
  auto* bytes = static_cast<unsigned char*>(CoTaskMemAlloc(3));
  ASSERT_NE(bytes, nullptr);
  std::memcpy(bytes, "abc", 3);
  bytes = static_cast<unsigned char*>(CoTaskMemRealloc(bytes, 3000));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(std::memcmp(bytes, "abc", 3), 0);
  EXPECT_EQ(CoTaskMemRealloc(bytes, 0), nullptr) << "growing to nothing frees";
}

TEST(CoTaskMem, NothingIsAnAddressAndNullMayBeFreed) {
  void* nothing = CoTaskMemAlloc(0);
  EXPECT_NE(nothing, nullptr);
  CoTaskMemFree(nothing);
  CoTaskMemFree(nullptr);
  void* fresh = CoTaskMemRealloc(nullptr, 8);
  EXPECT_NE(fresh, nullptr);
  CoTaskMemFree(fresh);
}

TEST(CoTaskArray, CopiesOrIsNull) {
  const std::vector<uint32_t> values = {1, 2, 3};
  uint32_t* copy = CoTaskArray(std::span<const uint32_t>(values));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(std::vector<uint32_t>(copy, copy + 3), values);
  CoTaskMemFree(copy);
  EXPECT_EQ(CoTaskArray(std::span<const uint32_t>()), nullptr);
}

TEST(CoTaskWide, IsATerminatedCopy) {
  LPWSTR text = CoTaskWide(L"two words");
  EXPECT_STREQ(text, L"two words");
  CoTaskMemFree(text);
  LPWSTR empty = CoTaskWide({});
  EXPECT_STREQ(empty, L"");
  CoTaskMemFree(empty);
}

}  // namespace
}  // namespace owml::test
