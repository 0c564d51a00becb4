#include "text/sampling/token_penalties.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

namespace owml {
namespace {

using testing::ElementsAre;

std::vector<float> Applied(const TokenPenalties& penalties, std::vector<float> logits) {
  penalties.Apply(logits);
  return logits;
}

SamplingSettings Repetition(float penalty, uint32_t window = 0) {
  SamplingSettings settings;
  settings.repetition_penalty = penalty;
  settings.repetition_window = window;
  return settings;
}

TEST(TokenPenalties, RepetitionDividesPositiveAndMultipliesNegativeLogitsOnce) {
  const std::vector<uint32_t> prompt = {1, 1, 1, 2};
  EXPECT_THAT(Applied(TokenPenalties(Repetition(2), prompt), {4, 4, -4, 4}), ElementsAre(4, 2, -8, 4));
}

TEST(TokenPenalties, RepetitionSeesGeneratedTokensToo) {
  TokenPenalties penalties(Repetition(2), {});
  EXPECT_THAT(Applied(penalties, {4, 4}), ElementsAre(4, 4));
  penalties.Accept(0);
  EXPECT_THAT(Applied(penalties, {4, 4}), ElementsAre(2, 4));
}

TEST(TokenPenalties, TheWindowMovesWithTheSequence) {
  const std::vector<uint32_t> prompt = {0, 1, 2};
  TokenPenalties penalties(Repetition(2, 2), prompt);
  EXPECT_THAT(Applied(penalties, {4, 4, 4, 4}), ElementsAre(4, 2, 2, 4));
  penalties.Accept(3);
  EXPECT_THAT(Applied(penalties, {4, 4, 4, 4}), ElementsAre(4, 4, 2, 2));
  penalties.Accept(3);
  EXPECT_THAT(Applied(penalties, {4, 4, 4, 4}), ElementsAre(4, 4, 4, 2));
}

TEST(TokenPenalties, PresenceAndFrequencyLookAtGeneratedTokensOnly) {
  SamplingSettings settings;
  settings.presence_penalty = 1;
  settings.frequency_penalty = 0.25f;
  const std::vector<uint32_t> prompt = {0};
  TokenPenalties penalties(settings, prompt);
  penalties.Accept(1);
  penalties.Accept(1);
  penalties.Accept(2);
  EXPECT_THAT(Applied(penalties, {4, 4, 4}), ElementsAre(4, 2.5f, 2.75f));
}

TEST(TokenPenalties, RepetitionComesBeforePresence) {
  SamplingSettings settings = Repetition(2);
  settings.presence_penalty = 1;
  TokenPenalties penalties(settings, {});
  penalties.Accept(0);
  EXPECT_THAT(Applied(penalties, {4}), ElementsAre(1));  // 4 / 2 - 1, not (4 - 1) / 2
}

TEST(TokenPenalties, NegativePenaltiesRaise) {
  SamplingSettings settings = Repetition(0.5f);
  settings.frequency_penalty = -1;
  TokenPenalties penalties(settings, {});
  penalties.Accept(0);
  EXPECT_THAT(Applied(penalties, {4}), ElementsAre(9));
}

TEST(TokenPenalties, ExtremePenaltiesStayFinite) {
  SamplingSettings settings = Repetition(std::numeric_limits<float>::denorm_min());
  settings.frequency_penalty = std::numeric_limits<float>::max();
  TokenPenalties penalties(settings, {});
  penalties.Accept(0);
  penalties.Accept(0);
  EXPECT_TRUE(std::isfinite(Applied(penalties, {4})[0]));
}

TEST(TokenPenalties, RuledOutTokensAndForeignIdsAreLeftAlone) {
  TokenPenalties penalties(Repetition(2), {});
  penalties.Accept(0);
  penalties.Accept(4000000000u);
  const float out = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(Applied(penalties, {out, 1}), ElementsAre(out, 1));
}

TEST(TokenPenalties, NeutralSettingsAreNotActive) {
  EXPECT_FALSE(TokenPenalties(SamplingSettings{}, {}).active());
  EXPECT_FALSE(TokenPenalties(Repetition(1, 64), {}).active());
  EXPECT_TRUE(TokenPenalties(Repetition(1.1f), {}).active());
}

}  // namespace
}  // namespace owml
