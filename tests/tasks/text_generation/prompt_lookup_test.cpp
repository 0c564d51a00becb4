// Drafts from the sequence itself.
#include "tasks/text_generation/prompt_lookup.h"

#include <gmock/gmock.h>

#include <random>

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<uint32_t>;

TEST(PromptLookup, SaysWhatFollowedTheSameEnding) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{1, 2, 3, 4, 9, 1, 2}, 3), ElementsAre(3, 4, 9));
}

TEST(PromptLookup, TheLongestEndingCounts) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{7, 1, 2, 5, 8, 1, 2, 6, 7, 1, 2}, 1), ElementsAre(5));
}

TEST(PromptLookup, OfSeveralTheLatestCounts) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{1, 2, 5, 1, 2, 6, 1, 2}, 1), ElementsAre(6));
}

TEST(PromptLookup, NothingRepeatedGivesNothing) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{}, 3), IsEmpty());
  EXPECT_THAT(lookup.Propose(Tokens{1}, 3), IsEmpty());
  EXPECT_THAT(lookup.Propose(Tokens{1, 2, 3, 4}, 3), IsEmpty());
}

TEST(PromptLookup, ARepetitionRunsIntoTheEnd) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{5, 5, 5, 5}, 8), ElementsAre(5));
}

TEST(PromptLookup, FollowsASequenceThatGrowsAndOneThatShrank) {
  PromptLookup lookup;
  EXPECT_THAT(lookup.Propose(Tokens{1, 2, 3}, 2), IsEmpty());
  EXPECT_THAT(lookup.Propose(Tokens{1, 2, 3, 1, 2}, 2), ElementsAre(3, 1));
  EXPECT_THAT(lookup.Propose(Tokens{4, 4, 4}, 2), ElementsAre(4)) << "another sequence";
}

// Against the definition, written down once more.
TEST(PromptLookup, AgreesWithASearchByHand) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    PromptLookup lookup;
    Tokens sequence;
    for (int i = 0; i < 40; ++i) {
      sequence.push_back(random() % 3);
      size_t longest = 1, best = 0;
      for (size_t end = sequence.size() - 1; end >= 2; --end) {
        size_t length = 0;
        while (length < end && length < 16 && sequence[end - 1 - length] == sequence[sequence.size() - 1 - length]) {
          ++length;
        }
        if (length > longest) longest = length, best = end;
      }
      Tokens expected;
      if (longest >= 2) expected.assign(sequence.begin() + static_cast<ptrdiff_t>(best), sequence.end());
      if (expected.size() > 4) expected.resize(4);
      EXPECT_EQ(lookup.Propose(sequence, 4), expected);
    }
  }
}

}  // namespace
}  // namespace owml::test
