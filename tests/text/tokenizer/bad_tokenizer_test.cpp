// Damaged and hostile tokenizer files end in a sentence, hostile texts in tokens, both soon.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "formats/expect_error.h"
#include "text/tokenizer/small_tokenizers.h"

namespace owml::text {
namespace {

using test::ExpectBadData;
using test::ExpectError;

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

TEST(BadTokenizerTest, AFileWithoutMergesIsRefused) {
  ExpectBadData([] { FromJson(R"({"model": {"type": "BPE", "vocab": {"a": 0}}})"); }, {"tokenizer.json", "merges"});
}

TEST(BadTokenizerTest, AMergeOfAnUnknownPieceIsRefused) {
  ExpectBadData([] { FromJson(BpeJson(R"({"a": 0, "b": 1, "ab": 2})", R"(["a b", "a c"])")); }, {"merge 1", "'c'"});
  ExpectBadData([] { FromJson(BpeJson(R"({"a": 0, "b": 1})", R"([["a", "b"]])")); }, {"merge 0", "'ab'"});
  ExpectBadData([] { FromJson(BpeJson(R"({"a": 0})", R"(["aa"])")); }, {"merge 0", "space between"});
  ExpectBadData([] { FromJson(BpeJson(R"({"a": 0})", R"([["a"]])")); }, {"array of two strings"});
}

TEST(BadTokenizerTest, DeepNestingIsRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  ExpectBadData([&] { FromJson("{\"normalizer\": " + deep + ", \"model\": {}}"); }, {"nested"});
  ExpectBadData([&] { FromJson("{\"model\": {\"vocab\": {}, \"x\": " + deep + "}}"); }, {"nested"});
  std::string sequences;
  for (int i = 0; i < 100000; ++i) sequences += R"({"type": "Sequence", "normalizers": [)";
  ExpectBadData([&] { FromJson("{\"normalizer\": " + sequences); }, {"nested"});
}

TEST(BadTokenizerTest, BrokenJsonIsRefusedWithItsPlace) {
  for (const char* json : {"", "{", "[]", "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}", "{\"model\" {}}",
                           "nul", "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"\\ud800\": 0}, \"merges\": []}}",
                           "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}, \"merges\": []}}",
                           "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"a\": 1}, \"merges\": []}}",
                           "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 0}, \"merges\": []}}",
                           "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 4000000000}, \"merges\": []}}"}) {
    SCOPED_TRACE(json);
    ExpectBadData([&] { FromJson(json); }, {"tokenizer.json"});
  }
}

TEST(BadTokenizerTest, PartsThatAreNotBuiltAreNamed) {
  const auto with = [](const std::string& rest) { return BpeJson(R"({"a": 0})", "[]", rest); };
  ExpectError([&] { FromJson(with(R"("normalizer": {"type": "Rot13"},)")); }, kNotSupported, {"normalizer", "Rot13"});
  ExpectError([&] { FromJson(with(R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "X"}]},)")); },
              kNotSupported, {"pre_tokenizer.pretokenizers[0]", "'X'"});
  ExpectError([&] { FromJson(with(R"("decoder": {"type": "Y"},)")); }, kNotSupported, {"decoder", "'Y'"});
  ExpectError([&] { FromJson(with(R"("version": "2.0",)")); }, kNotSupported, {"2.0"});
  ExpectError([&] { FromJson(BpeJson(R"({"a": 0})", "[]", "", R"("dropout": 0.1,)")); }, kNotSupported, {"dropout"});
  ExpectBadData(
      [&] {
        FromJson(with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"},)"));
      },
      {"pre_tokenizer", "regular expression"});
}

TEST(BadTokenizerTest, AFallbackTokenNeedsTwoDigits) {
  const auto tokenizer =
      FromJson(BpeJson(R"({"<0x-1>": 0, "<0x41>": 1, "<0xZZ>": 2})", "[]",
                       R"("decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},)",
                       R"("byte_fallback": true,)"));
  EXPECT_EQ(tokenizer->Encode("A", {}), (Ids{1}));
  EXPECT_EQ(tokenizer->Decode(Ids{0, 1, 2}, false), "<0x-1>A<0xZZ>");
}

TEST(BadTokenizerTest, AMillionAddedTokensLoadAndMatch) {
  std::string added = "\"added_tokens\": [";
  for (int i = 0; i < 1000000; ++i) {
    if (i) added += ',';
    added += "{\"id\": " + std::to_string(i + 1) + ", \"content\": \"<t" + std::to_string(i) +
             ">\", \"normalized\": false, \"special\": true}";
  }
  const auto tokenizer = FromJson(BpeJson(R"({"a": 0})", "[]", added + "],"));
  EXPECT_EQ(tokenizer->Encode("a<t999999>a<t1>", {}), (Ids{0, 1000000, 0, 2}));
}

double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(BadTokenizerTest, TenMegabytesOfOneLetterTakeNoQuadraticTime) {
  const auto tokenizer = FromJson(ByteLevelJson());
  const auto seconds = [&tokenizer](const std::string& text) {
    const double start = ThreadSeconds();
    const Ids ids = tokenizer->Encode(text, {});
    const double taken = ThreadSeconds() - start;
    EXPECT_EQ(tokenizer->Decode(ids, false), text);
    return taken;
  };
  for (const char unit : {'a', ' '}) {
    const double tenth = seconds(std::string(1'000'000, unit));
    // Ten times as much, and a little for the larger queue; quadratic time would be a hundred times.
    EXPECT_LT(seconds(std::string(10'000'000, unit)), 40 * tenth) << unit;
  }
}

TEST(BadTokenizerTest, MalformedTextIsReplacementCharacters) {
  const auto tokenizer = FromJson(ByteLevelJson());
  EXPECT_EQ(tokenizer->Decode(tokenizer->Encode("a\xFF", {}), false), "a\uFFFD");
}

TEST(BadTokenizerTest, UnknownIdsAreAnError) {
  const auto tokenizer = FromJson(BpeJson(R"({"a": 0, "b": 7})", "[]"));
  for (const uint32_t id : {1u, 8u, UINT32_MAX}) {
    ExpectError([&] { tokenizer->Decode(Ids{0, id}, false); }, E_INVALIDARG, {std::to_string(id)});
    ExpectError([&] { tokenizer->Spelling(id); }, E_INVALIDARG, {std::to_string(id)});
  }
}

}  // namespace
}  // namespace owml::text
