// Choice of the instruction set.
#include "kernels/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::kernels {
namespace {

class IsaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("OWML_FORCE_ISA")) before_ = value;
  }
  void TearDown() override { Force(before_); }
  static void Force(const std::string& word) { ::setenv("OWML_FORCE_ISA", word.c_str(), 1); }

  std::string before_;
};

TEST_F(IsaTest, TheStrongestIsChosenWithoutAWord) {
  Force("");
  EXPECT_EQ(ChosenIsa(), UsableIsas().back());
}

TEST_F(IsaTest, EveryUsableOneCanBeForcedAndHasItsTable) {
  for (const Isa isa : UsableIsas()) {
    Force(std::string(Name(isa)));
    EXPECT_EQ(ChosenIsa(), isa);
    EXPECT_EQ(KernelsFor(isa).isa, isa);
  }
}

TEST_F(IsaTest, AnUnknownWordIsRefused) {
  Force("avx1024");
  try {
    ChosenIsa();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), E_INVALIDARG);
    EXPECT_NE(std::string(error.what()).find("avx1024"), std::string::npos);
  }
}

}  // namespace
}  // namespace owml::kernels
