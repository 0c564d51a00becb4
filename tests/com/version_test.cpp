// The version that the library tells.
// Numbers and text must agree.
#include <gtest/gtest.h>
#include <openwinml/diagnostics.h>

#include <string>

namespace owml::test {
namespace {

TEST(Version, NumbersAndTextAgree) {
  UINT32 major = 99, minor = 99, patch = 99;
  OwmlGetVersion(&major, &minor, &patch);
  EXPECT_EQ(OwmlGetVersionString(), std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch));
}

TEST(Version, AnyPointerMayBeNull) {
  UINT32 minor = 99;
  OwmlGetVersion(nullptr, &minor, nullptr);
  EXPECT_NE(minor, 99u);
}

}  // namespace
}  // namespace owml::test
