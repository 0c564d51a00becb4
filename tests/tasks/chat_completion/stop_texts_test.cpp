// Stop texts in fragments of all sizes.
#include "tasks/chat_completion/stop_texts.h"

#include <gtest/gtest.h>

#include <random>

namespace owml::test {
namespace {

TEST(StopTexts, WithoutAnyTextPassesAtOnce) {
  StopTexts stops({});
  EXPECT_EQ(stops.Push(L"abc"), L"abc");
  EXPECT_EQ(stops.TakeRest(), L"");
  EXPECT_FALSE(stops.stopped());
}

TEST(StopTexts, HoldBackWhatCouldBeginOne) {
  StopTexts stops({L"END"});
  EXPECT_EQ(stops.Push(L"the E"), L"the ");
  EXPECT_EQ(stops.Push(L"N"), L"");
  EXPECT_EQ(stops.Push(L"T"), L"ENT");
  EXPECT_EQ(stops.Push(L"E"), L"");
  EXPECT_EQ(stops.TakeRest(), L"E");
  EXPECT_FALSE(stops.stopped());
}

TEST(StopTexts, OneInPiecesStopsAndSwallowsTheRest) {
  StopTexts stops({L"END"});
  EXPECT_EQ(stops.Push(L"yes E"), L"yes ");
  EXPECT_EQ(stops.Push(L"N"), L"");
  EXPECT_EQ(stops.Push(L"D and more"), L"");
  EXPECT_TRUE(stops.stopped());
  EXPECT_EQ(stops.TakeRest(), L"");
  EXPECT_EQ(stops.Push(L"again"), L"");
}

TEST(StopTexts, TheOneThatIsCompleteFirstCounts) {
  StopTexts stops({L"bcd", L"ab"});
  EXPECT_EQ(stops.Push(L"xabcd"), L"x");
  EXPECT_TRUE(stops.stopped());
  StopTexts nested({L"abcd", L"bc", L"abc"});
  EXPECT_EQ(nested.Push(L"xabcd"), L"x") << "two end with the same letter";
}

TEST(StopTexts, ABeginningThatRepeatsIsFound) {
  StopTexts stops({L"aab"});
  EXPECT_EQ(stops.Push(L"aa"), L"");
  EXPECT_EQ(stops.Push(L"a"), L"a");
  EXPECT_EQ(stops.Push(L"b"), L"");
  EXPECT_TRUE(stops.stopped());
}

// However a text is cut, what comes out is what stands before the first stop.
TEST(StopTexts, TheCutsOfTheTextDoNotMatter) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto letters = [&](size_t most) {
      std::wstring text(1 + random() % most, L'a');
      for (wchar_t& letter : text) letter = static_cast<wchar_t>(L'a' + random() % 3);
      return text;
    };
    std::vector<std::wstring> texts;
    for (size_t i = 0; i <= random() % 3; ++i) texts.push_back(letters(5));
    const std::wstring whole = letters(30);
    // Letter by letter by hand: the first place where a stop ends, and where the longest that ends there begins.
    bool found = false;
    std::wstring expected = whole;
    for (size_t end = 1; end <= whole.size() && !found; ++end) {
      for (const std::wstring& text : texts) {
        if (!std::wstring_view(whole).substr(0, end).ends_with(text)) continue;
        found = true;
        if (end - text.size() < expected.size()) expected = whole.substr(0, end - text.size());
      }
    }
    StopTexts stops(texts);
    std::wstring out;
    for (size_t at = 0; at < whole.size();) {
      const size_t length = std::min<size_t>(random() % 4, whole.size() - at);
      out += stops.Push(whole.substr(at, length));
      at += length;
    }
    out += stops.TakeRest();
    EXPECT_EQ(stops.stopped(), found);
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace owml::test
