// The JSON reader's grammar and bounds.
#include "text/tokenizer/json_reader.h"

#include <gtest/gtest.h>

#include "formats/expect_error.h"

namespace owml::text {
namespace {

JsonValue Read(std::string_view text) {
  JsonReader reader(text, "f");
  JsonValue value = JsonValue::Read(&reader);
  reader.End();
  return value;
}

TEST(JsonReaderTest, ReadsEveryKindOfValue) {
  const JsonValue value = Read(R"( {"a": [1, -2.5e3, true, false, null], "b": {"c": "\u00e9\ud83d\ude0a\n\/"}} )");
  ASSERT_EQ(value.Find("a")->elements().size(), 5u);
  EXPECT_EQ(value.Find("a")->elements()[1].number(), -2500);
  EXPECT_TRUE(value.Find("a")->elements()[2].boolean());
  EXPECT_TRUE(value.Find("a")->elements()[4].is_null());
  EXPECT_EQ(value.Find("b")->Find("c")->string(), "\u00e9\U0001F60A\n/");
  EXPECT_EQ(value.Find("x"), nullptr);
}

TEST(JsonReaderTest, RefusesWhatIsNoJson) {
  for (const char* text : {"[1,]", "[1 2]", "{\"a\"}", "{\"a\": 1,}", "\"\x01\"", "\"\\q\"", "\"\\u12\"", "\"\\udc00\"",
                           "\"a", "01x", "tru", "[1] 2", "\"\xff\"", "[", "{\"a\":", "--1"}) {
    SCOPED_TRACE(text);
    test::ExpectBadData([&] { Read(text); }, {"f: byte "});
  }
}

TEST(JsonReaderTest, BoundsDepthInTreesAndInSkippedValues) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(Read(nested(JsonReader::kMaxDepth)));
  test::ExpectBadData([&] { Read(nested(JsonReader::kMaxDepth + 1)); }, {"nested"});
  const std::string deep = nested(100000);
  JsonReader reader(deep, "f");
  test::ExpectBadData([&] { reader.Raw(); }, {"nested"});
}

TEST(JsonReaderTest, RawValuesAreReadLaterAtTheirPlace) {
  const std::string text = R"({"a": [1, "]"], "b": 2})";
  JsonReader reader(text, "f");
  std::string key;
  reader.BeginObject();
  ASSERT_TRUE(reader.NextKey(&key));
  const auto [raw, offset] = reader.Raw();
  EXPECT_EQ(raw, R"([1, "]"])");
  EXPECT_EQ(offset, 6u);
  ASSERT_TRUE(reader.NextKey(&key));
  EXPECT_EQ(reader.UInt32(), 2u);
  EXPECT_FALSE(reader.NextKey(&key));
}

}  // namespace
}  // namespace owml::text
