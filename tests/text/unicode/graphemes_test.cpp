// Clusters of several characters.
#include "text/unicode/graphemes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace owml::text {
namespace {

std::vector<std::string> Clusters(const std::string& text) {
  std::vector<std::string> clusters;
  for (size_t at = 0; at < text.size();) {
    const size_t end = GraphemeEnd(text, at);
    clusters.push_back(text.substr(at, end - at));
    at = end;
  }
  return clusters;
}

using Strings = std::vector<std::string>;

TEST(GraphemesTest, FollowTheRulesOfTheStandard) {
  EXPECT_EQ(Clusters("ab"), (Strings{"a", "b"}));
  EXPECT_EQ(Clusters("\r\n\n"), (Strings{"\r\n", "\n"}));
  EXPECT_EQ(Clusters("e\u0301x"), (Strings{"e\u0301", "x"}));
  EXPECT_EQ(Clusters("\u1100\u1161\u11A8\u1100"), (Strings{"\u1100\u1161\u11A8", "\u1100"}));
  EXPECT_EQ(Clusters("\U0001F1E9\U0001F1EA\U0001F1EB"), (Strings{"\U0001F1E9\U0001F1EA", "\U0001F1EB"}));
  EXPECT_EQ(Clusters("\U0001F468\u200D\U0001F469!"), (Strings{"\U0001F468\u200D\U0001F469", "!"}));
  EXPECT_EQ(Clusters("\u0915\u094D\u0924"), (Strings{"\u0915\u094D\u0924"}));
}

}  // namespace
}  // namespace owml::text
