// The trie against a plain search.
#include "text/tokenizer/token_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace owml::text {
namespace {

TEST(TokenTrieTest, FindsExactlyItsEntries) {
  std::mt19937 random(7);
  std::map<std::string, uint32_t> entries;
  while (entries.size() < 5000) {
    std::string text;
    const size_t length = 1 + random() % 6;
    // Few letters for deep sharing, now and then any byte, zero too.
    for (size_t i = 0; i < length; ++i)
      text.push_back(static_cast<char>(random() % 8 ? 'a' + random() % 4 : random() % 256));
    entries.emplace(text, static_cast<uint32_t>(entries.size()));
  }
  const TokenTrie trie({entries.begin(), entries.end()});
  const auto find = [&trie](const std::string& text) {
    TokenTrie::Cursor cursor;
    for (const char byte : text) {
      if (!trie.Step(&cursor, static_cast<uint8_t>(byte))) return TokenTrie::kNoValue;
    }
    return trie.Value(cursor);
  };
  for (const auto& [text, value] : entries) EXPECT_EQ(find(text), value);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t j = 0, length = random() % 7; j < length; ++j)
      text.push_back(static_cast<char>(random() % 3 ? 'a' + random() % 5 : random() % 256));
    const auto expected = entries.find(text);
    EXPECT_EQ(find(text), expected == entries.end() ? TokenTrie::kNoValue : expected->second);
  }
}

TEST(TokenTrieTest, AnEmptyTrieBeginsWithNothing) {
  const TokenTrie trie(std::vector<std::pair<std::string_view, uint32_t>>{{"", 1}});
  EXPECT_TRUE(trie.empty());
  EXPECT_FALSE(trie.Begins('a'));
}

}  // namespace
}  // namespace owml::text
