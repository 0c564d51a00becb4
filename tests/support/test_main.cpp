// main() of every test program: each test must end with as many live COM objects as it began with.
// Linked by owml_add_test.
#include <gtest/gtest.h>
#include <oleauto.h>
#include <openwinml/diagnostics.h>
#include <stdlib.h>

namespace {

class LiveObjectCheck : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    SetErrorInfo(0, nullptr);
    before_ = OwmlLiveObjectCount();
  }
  void OnTestEnd(const testing::TestInfo&) override {
    SetErrorInfo(0, nullptr);
    EXPECT_EQ(OwmlLiveObjectCount(), before_) << "COM objects alive at the end of the test";
  }

  UINT64 before_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  ::setenv("OWML_PACKED_CACHE", "off", 0);  // tests leave nothing in the user's cache
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new LiveObjectCheck);
  return RUN_ALL_TESTS();
}
