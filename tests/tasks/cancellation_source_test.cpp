// A cancellation source: down at first, up for good.
// Works on the class, without the exported function.
#include "tasks/cancellation_source.h"

#include <gtest/gtest.h>
#include <openwinml/error.h>

namespace owml::test {
namespace {

BOOL IsCanceled(IWinMLCancellationSource* source) {
  BOOL canceled = 7;
  EXPECT_EQ(source->GetIsCanceled(&canceled), S_OK);
  return canceled;
}

TEST(CancellationSource, StaysCanceled) {
  const auto source = MakeCancellationSource();
  EXPECT_EQ(IsCanceled(source.Get()), FALSE);
  EXPECT_EQ(source->Cancel(), S_OK);
  EXPECT_EQ(IsCanceled(source.Get()), TRUE);
  EXPECT_EQ(source->Cancel(), S_OK) << "a second time changes nothing";
  EXPECT_EQ(IsCanceled(source.Get()), TRUE);
}

TEST(CancellationSource, IsIndependentOfOthers) {
  const auto one = MakeCancellationSource();
  const auto other = MakeCancellationSource();
  one->Cancel();
  EXPECT_EQ(IsCanceled(other.Get()), FALSE);
}

TEST(CancellationSource, RefusesANullOutPointer) {
  const auto source = MakeCancellationSource();
  EXPECT_EQ(source->GetIsCanceled(nullptr), E_POINTER);
  EXPECT_EQ(openwinml::LastErrorMessage(), "IWinMLCancellationSource::GetIsCanceled: isCanceled is null");
}

}  // namespace
}  // namespace owml::test
