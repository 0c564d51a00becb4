// The four forms on the texts that their definition gives as examples.
#include "text/unicode/normalization.h"

#include <gtest/gtest.h>

#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

std::string Normalized(std::string_view text, NormalizationForm form) {
  std::string result;
  NormalizationWalk walk(text, form);
  for (NormalizationWalk::Segment segment; walk.Next(&segment);) {
    if (segment.unchanged) {
      result += text.substr(segment.begin, segment.end - segment.begin);
    } else {
      for (const NormalizedCharacter& character : *segment.characters) AppendCharacter(&result, character.code);
    }
  }
  return result;
}

TEST(NormalizationTest, ComposesAndDecomposes) {
  EXPECT_EQ(Normalized("Cafe\u0301 x", NormalizationForm::kNfc), "Caf\u00e9 x");
  EXPECT_EQ(Normalized("Caf\u00e9 x", NormalizationForm::kNfd), "Cafe\u0301 x");
  EXPECT_EQ(Normalized("\uFB01\u00b2", NormalizationForm::kNfkc), "fi2");
  EXPECT_EQ(Normalized("\uFB01", NormalizationForm::kNfc), "\uFB01");
}

TEST(NormalizationTest, PutsMarksInCanonicalOrder) {
  // Dot below (220) comes before dot above (230), whichever way they were typed.
  EXPECT_EQ(Normalized("s\u0307\u0323", NormalizationForm::kNfc), "\u1E69");
  EXPECT_EQ(Normalized("d\u0307\u0323", NormalizationForm::kNfc), "\u1E0D\u0307");
  EXPECT_EQ(Normalized("d\u0307\u0323", NormalizationForm::kNfd), "d\u0323\u0307");
}

TEST(NormalizationTest, ComputesHangul) {
  EXPECT_EQ(Normalized("\uAC01", NormalizationForm::kNfd), "\u1100\u1161\u11A8");
  EXPECT_EQ(Normalized("\u1100\u1161\u11A8", NormalizationForm::kNfc), "\uAC01");
}

TEST(NormalizationTest, ExcludedCompositionsStayApart) {
  EXPECT_EQ(Normalized("\u0958", NormalizationForm::kNfc), "\u0915\u093C");
  EXPECT_EQ(Normalized("\u2126", NormalizationForm::kNfc), "\u03A9");
}

TEST(NormalizationTest, AMillionMarksAreNoProblem) {
  std::string text = "a";
  for (int i = 0; i < 500000; ++i) text += i % 2 ? "\u0301" : "\u0323";
  EXPECT_EQ(Normalized(text, NormalizationForm::kNfd).size(), text.size());
}

}  // namespace
}  // namespace owml::text
