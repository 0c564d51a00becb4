// When drafts are tried.
#include "tasks/text_generation/draft_pacing.h"

#include <gtest/gtest.h>

namespace owml::test {
namespace {

// `steps` steps in which a draft is right with the chance `right`, and costs `extra` of a plain step. The tokens of a
// unit of time.
double Rate(DraftPacing* pacing, int steps, double right, double extra, int* drafted_steps = nullptr) {
  double time = 0, tokens = 0;
  double phase = 0;
  for (int i = 0; i < steps; ++i) {
    const uint32_t count = pacing->Count();
    uint32_t accepted = 0;
    while (accepted < count) {
      phase += right;
      if (phase < 1) break;
      phase -= 1;
      ++accepted;
    }
    const double seconds = 1 + extra * count;
    pacing->Observe(count, accepted, seconds);
    if (drafted_steps) *drafted_steps += count != 0;
    time += seconds;
    tokens += 1 + accepted;
  }
  return tokens / time;
}

TEST(DraftPacing, MeasuresAPlainStepFirst) {
  DraftPacing pacing(4);
  EXPECT_EQ(pacing.Count(), 0u);
  pacing.Observe(0, 0, 1);
  EXPECT_EQ(pacing.Count(), 4u);
}

TEST(DraftPacing, CheapDraftsThatAreRightAreTriedInFull) {
  DraftPacing pacing(4);
  EXPECT_GT(Rate(&pacing, 300, 0.9, 0.05), 2.5);
  EXPECT_EQ(pacing.Count(), 4u);
}

TEST(DraftPacing, DraftsThatAreWrongAreLeftAfterAFewTries) {
  DraftPacing pacing(4);
  int drafted = 0;
  const double rate = Rate(&pacing, 300, 0.0, 0.5, &drafted);
  EXPECT_GT(rate, 0.9) << "a plain step a token is 1";
  EXPECT_LT(drafted, 40);
  EXPECT_GT(drafted, 5) << "but it goes on trying now and then";
}

TEST(DraftPacing, DearDraftsAreLeftEvenWhenTheyAreRight) {
  DraftPacing pacing(4);
  EXPECT_GT(Rate(&pacing, 300, 0.9, 1.5), 0.9);
}

TEST(DraftPacing, FewerDraftsAreTriedWhereMoreDoNotPay) {
  DraftPacing pacing(8);
  Rate(&pacing, 200, 0.5, 0.2);
  EXPECT_GT(pacing.Count(), 0u);
  EXPECT_LT(pacing.Count(), 4u);
}

TEST(DraftPacing, ComesBackWhenDraftsBecomeRight) {
  DraftPacing pacing(4);
  Rate(&pacing, 100, 0.0, 0.3);
  Rate(&pacing, 400, 0.95, 0.3);
  EXPECT_GT(Rate(&pacing, 100, 0.95, 0.3), 1.3);
}

TEST(DraftPacing, WithoutDraftsThereAreNone) {
  DraftPacing pacing(0);
  pacing.Observe(0, 0, 1);
  EXPECT_EQ(pacing.Count(), 0u);
}

}  // namespace
}  // namespace owml::test
