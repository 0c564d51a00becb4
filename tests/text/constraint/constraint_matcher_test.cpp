// Following replies over real vocabularies: masks against trying every token, stops, triggers, copies, poison.
#include "text/constraint/constraint_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/constraint/compiled_constraint.h"
#include "text/tokenizer/model_folder.h"

namespace owml::text {
namespace {

using Status = ConstraintMatcher::Status;

std::filesystem::path Data(const std::string& name) { return std::filesystem::path(OWML_LLAMA_DATA_DIR) / name; }

// One for each vocabulary and program.
std::shared_ptr<const ConstraintVocabulary> VocabularyOf(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const ConstraintVocabulary>> known;
  auto& vocabulary = known[name];
  if (!vocabulary) vocabulary = std::make_shared<ConstraintVocabulary>(OpenTokenizer(Data(name)).tokenizer);
  return vocabulary;
}

ConstraintRequest Request(const char* syntax, const std::string& value) {
  ConstraintRequest request;
  request.syntax = syntax;
  request.value = value;
  return request;
}

class ConstraintMatcherTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(OWML_LLAMA_DATA_DIR).empty()) GTEST_SKIP() << "tools/bootstrap has not fetched the vocabularies";
    vocabulary_ = VocabularyOf(GetParam());
    compiler_ = std::make_unique<ConstraintCompiler>(vocabulary_);
  }

  ConstraintMatcher Start(const ConstraintRequest& request) { return ConstraintMatcher(compiler_->Compile(request)); }

  std::vector<uint32_t> Tokens(const std::string& text) const {
    EncodeOptions options;
    options.added_tokens = AddedTokenUse::kNone;
    auto ids = vocabulary_->tokenizer().Encode(text, options);
    // A tokenizer that puts a space before a text would change it; then the bytes go one token at a time.
    std::string joined;
    for (uint32_t id : ids) joined += vocabulary_->TextBytes(id);
    if (joined == text) return ids;
    ids.clear();
    for (size_t at = 0; at < text.size();) {
      uint32_t best = UINT32_MAX;
      size_t length = 0;
      for (uint32_t id = 0; id < vocabulary_->limit(); ++id) {
        const std::string_view bytes = vocabulary_->TextBytes(id);
        if (bytes.size() > length && std::string_view(text).substr(at).starts_with(bytes)) {
          best = id;
          length = bytes.size();
        }
      }
      if (best == UINT32_MAX) throw std::runtime_error("no token for " + text.substr(at));
      ids.push_back(best);
      at += length;
    }
    return ids;
  }

  // What trying one token after the other says, on machines of their own.
  std::vector<uint32_t> Tried(const CompiledConstraint& constraint, const std::string& before) const {
    ParserStates states(constraint.program);
    ParserStates::Set set = states.Start();
    for (char c : before) set = states.Step(set, static_cast<uint8_t>(c));
    std::vector<uint32_t> result;
    for (uint32_t id = 0; id < vocabulary_->limit(); ++id) {
      if (vocabulary_->IsEos(id)) {
        if (states.CanEnd(set)) result.push_back(id);
        continue;
      }
      const std::string_view bytes = vocabulary_->TextBytes(id);
      ParserStates::Set at = set;
      for (char c : bytes) {
        at = states.Step(at, static_cast<uint8_t>(c));
        if (at == ParserStates::kDead) break;
      }
      if (!bytes.empty() && at != ParserStates::kDead) result.push_back(id);
    }
    return result;
  }

  static std::vector<uint32_t> Members(const TokenSet& set) {
    std::vector<uint32_t> result;
    for (uint32_t id = 0; id < set.limit(); ++id) {
      if (set.Has(id)) result.push_back(id);
    }
    return result;
  }

  // Follows the tokens of `text`, comparing the mask before each.
  void Follow(const ConstraintRequest& request, const std::string& text) {
    ConstraintMatcher matcher = Start(request);
    std::string before;
    for (uint32_t id : Tokens(text)) {
      ASSERT_EQ(Members(matcher.Allowed()), Tried(matcher.constraint(), before)) << "behind: " << before;
      ASSERT_TRUE(matcher.IsAllowed(id)) << "behind: " << before << " token " << vocabulary_->TextBytes(id);
      matcher.Accept(id);
      before += vocabulary_->TextBytes(id);
    }
    ASSERT_EQ(Members(matcher.Allowed()), Tried(matcher.constraint(), before)) << "behind: " << before;
    EXPECT_TRUE(matcher.CanStop()) << before;
    ASSERT_FALSE(vocabulary_->tokenizer().eos().empty());
    matcher.Accept(vocabulary_->tokenizer().eos()[0]);
    EXPECT_EQ(matcher.status(), Status::kCompleted);
    EXPECT_FALSE(matcher.CanStop());
  }

  std::shared_ptr<const ConstraintVocabulary> vocabulary_;
  std::unique_ptr<ConstraintCompiler> compiler_;
};

INSTANTIATE_TEST_SUITE_P(Vocabularies, ConstraintMatcherTest,
                         testing::Values("ggml-vocab-llama-bpe.gguf", "ggml-vocab-llama-spm.gguf"),
                         [](const auto& test) { return test.index == 0 ? "Bpe" : "Spm"; });

TEST_P(ConstraintMatcherTest, MasksEqualTryingEveryTokenInAnyJson) {
  Follow(Request("json_schema", "true"),
         R"({"name":"Zoë \"x\" \u00e9 日本","list":[1,-2.5e3,true,null,{"a":{}}],"empty":"", "spaced": []})");
}

TEST_P(ConstraintMatcherTest, MasksEqualTryingEveryTokenInASchema) {
  Follow(Request("json_schema",
                 R"({"type":"object","properties":{"id":{"type":"integer","minimum":3,"maximum":120},
                     "kind":{"enum":["alpha","alphabet","beta"]},"tags":{"type":"array","items":{"type":"string",
                     "maxLength":12},"maxItems":3},"code":{"type":"string","pattern":"^[A-Z]{2}-\\d+$"}},
                     "required":["id","kind"],"additionalProperties":false})"),
         R"({"id":42,"kind":"alphabet","tags":["twelve chars","ünïcödé"],"code":"AB-1234"})");
}

TEST_P(ConstraintMatcherTest, MasksEqualTryingEveryTokenInCountedText) {
  // Both far from the limit and near it.
  Follow(
      Request("json_schema",
              R"({"type":"array","items":{"type":"string","minLength":3,"maxLength":100},"maxItems":2})"),
      R"(["a string of more than sixteen tokens, so that states far from its limit of ninety are shared!","日本語の文字列\n"])");
  Follow(Request("gbnf", "root ::= ([a-z ]{2,7} [.,]){1,40}"), "one, two, three, four, five.");
}

TEST_P(ConstraintMatcherTest, MasksEqualTryingEveryTokenInAnAmbiguousGrammar) {
  Follow(Request("gbnf",
                 "root ::= item (\",\" item)* \".\"?\nitem ::= word | word \"-\" word | \"(\" root \")\"\n"
                 "word ::= [a-z]+ | [a-z] [a-z0-9]*\n"),
         "some-thing,(a,b2-c),x.");
}

TEST_P(ConstraintMatcherTest, MasksEqualTryingEveryTokenInARegularExpression) {
  Follow(Request("regex", R"(Answer: (yes|no|maybe not)( because .{1,40})?\.)"),
         "Answer: maybe not because it depends.");
}

TEST_P(ConstraintMatcherTest, LetsATokenEndOnlyWhereTheTextMayEnd) {
  ConstraintMatcher matcher = Start(Request("json_schema", R"({"type":"object"})"));
  const uint32_t eos = vocabulary_->tokenizer().eos()[0];
  EXPECT_TRUE(matcher.IsStop(eos));
  EXPECT_FALSE(matcher.IsAllowed(eos));
  for (uint32_t id : Tokens("{}")) matcher.Accept(id);
  EXPECT_TRUE(matcher.CanStop());
  const auto allowed = Members(matcher.Allowed());
  auto ends = vocabulary_->tokenizer().eos();
  std::sort(ends.begin(), ends.end());
  EXPECT_EQ(allowed, ends);
}

TEST_P(ConstraintMatcherTest, NeverTakesASpecialTokenForText) {
  ConstraintMatcher matcher = Start(Request("gbnf", "root ::= .*"));
  for (uint32_t id = 0; id < vocabulary_->limit(); ++id) {
    if (vocabulary_->tokenizer().Has(id) && vocabulary_->tokenizer().IsSpecial(id) && !vocabulary_->IsEos(id)) {
      EXPECT_FALSE(matcher.IsAllowed(id)) << id;
    }
  }
}

TEST_P(ConstraintMatcherTest, IsPoisonedByAForbiddenTokenUntilItIsReset) {
  ConstraintMatcher matcher = Start(Request("gbnf", "root ::= \"yes\" | \"no\""));
  const uint32_t wrong = Tokens("maybe")[0];
  ASSERT_FALSE(matcher.IsAllowed(wrong));
  EXPECT_THROW(matcher.Accept(wrong), Error);
  EXPECT_EQ(matcher.status(), Status::kPoisoned);
  EXPECT_TRUE(matcher.Allowed().empty());
  try {
    matcher.Accept(Tokens("yes")[0]);
    FAIL() << "a poisoned constraint accepted a token";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), E_NOT_VALID_STATE);
  }
  matcher.Reset();
  EXPECT_EQ(matcher.status(), Status::kActive);
  for (uint32_t id : Tokens("yes")) matcher.Accept(id);
  EXPECT_TRUE(matcher.CanStop());
}

TEST_P(ConstraintMatcherTest, CopiesGoTheirOwnWay) {
  ConstraintMatcher first = Start(Request("gbnf", "root ::= \"(\" (\"left\" | \"right\") \")\""));
  for (uint32_t id : Tokens("(")) first.Accept(id);
  ConstraintMatcher second = first;
  for (uint32_t id : Tokens("left")) first.Accept(id);
  for (uint32_t id : Tokens("right")) second.Accept(id);
  EXPECT_EQ(Members(first.Allowed()), Members(second.Allowed()));
  for (uint32_t id : Tokens(")")) second.Accept(id);
  EXPECT_TRUE(second.CanStop());
  EXPECT_FALSE(first.CanStop());
}

TEST_P(ConstraintMatcherTest, WaitsForItsTextTriggerAndBeginsWithIt) {
  ConstraintRequest request = Request("gbnf", "root ::= \"<call>\" [a-z]+ \"</call>\"");
  request.lazy = true;
  request.triggers.push_back({ConstraintTrigger::Kind::kText, std::nullopt, "<call>"});
  ConstraintMatcher matcher = Start(request);
  EXPECT_TRUE(matcher.awaiting_trigger());
  EXPECT_TRUE(matcher.CanStop());
  EXPECT_EQ(Members(matcher.Allowed()), Members(vocabulary_->all()));
  for (uint32_t id : Tokens("I shall call: <cal")) matcher.Accept(id);
  EXPECT_TRUE(matcher.awaiting_trigger());
  for (uint32_t id : Tokens("l>tool")) matcher.Accept(id);
  EXPECT_FALSE(matcher.awaiting_trigger());
  EXPECT_FALSE(matcher.CanStop());
  EXPECT_THROW(matcher.Accept(Tokens("7")[0]), Error);
}

TEST_P(ConstraintMatcherTest, BeginsAtTheFirstGroupOfAPatternTrigger) {
  ConstraintRequest request = Request("gbnf", "root ::= \"{\" [a-z]* \"}\"");
  request.lazy = true;
  request.triggers.push_back({ConstraintTrigger::Kind::kPattern, std::nullopt, R"(call\s*(\{))"});
  ConstraintMatcher matcher = Start(request);
  for (uint32_t id : Tokens("{x} call  {ab}")) matcher.Accept(id);
  EXPECT_FALSE(matcher.awaiting_trigger());
  EXPECT_TRUE(matcher.CanStop());
}

TEST_P(ConstraintMatcherTest, AFullPatternMustMatchFromTheBeginning) {
  ConstraintRequest request = Request("gbnf", "root ::= \"{\" [a-z]* \"}\"");
  request.lazy = true;
  request.triggers.push_back({ConstraintTrigger::Kind::kFullPattern, std::nullopt, R"(\s*(\{)[\s\S]*)"});
  ConstraintMatcher other = Start(request);
  for (uint32_t id : Tokens("no {ab}")) other.Accept(id);
  EXPECT_TRUE(other.awaiting_trigger());
  ConstraintMatcher matcher = Start(request);
  for (uint32_t id : Tokens("\n\n{ab}")) matcher.Accept(id);
  EXPECT_FALSE(matcher.awaiting_trigger());
}

TEST_P(ConstraintMatcherTest, ATokenTriggerIsPartOfTheConstrainedText) {
  const uint32_t open = Tokens("{")[0];
  ConstraintRequest request = Request("gbnf", "root ::= \"{\" [a-z]* \"}\"");
  request.lazy = true;
  request.triggers.push_back({ConstraintTrigger::Kind::kToken, open, ""});
  ConstraintMatcher matcher = Start(request);
  for (uint32_t id : Tokens("before")) matcher.Accept(id);
  EXPECT_TRUE(matcher.awaiting_trigger());
  matcher.Accept(open);
  EXPECT_FALSE(matcher.awaiting_trigger());
  for (uint32_t id : Tokens("}")) matcher.Accept(id);
  EXPECT_TRUE(matcher.CanStop());
}

TEST_P(ConstraintMatcherTest, ALazyConstraintMayEndWithoutItsTrigger) {
  ConstraintRequest request = Request("gbnf", "root ::= \"x\"");
  request.lazy = true;
  request.triggers.push_back({ConstraintTrigger::Kind::kText, std::nullopt, "x"});
  ConstraintMatcher matcher = Start(request);
  for (uint32_t id : Tokens("done")) matcher.Accept(id);
  matcher.Accept(vocabulary_->tokenizer().eos()[0]);
  EXPECT_EQ(matcher.status(), Status::kCompleted);
}

TEST_P(ConstraintMatcherTest, PreservedTokensStandForTheirText) {
  uint32_t special = UINT32_MAX;
  for (uint32_t id = 0; id < vocabulary_->limit() && special == UINT32_MAX; ++id) {
    const Tokenizer& tokenizer = vocabulary_->tokenizer();
    if (tokenizer.Has(id) && tokenizer.IsSpecial(id) && !vocabulary_->IsEos(id) && !tokenizer.Bytes(id).empty())
      special = id;
  }
  ASSERT_NE(special, UINT32_MAX);
  const std::string text = vocabulary_->tokenizer().Bytes(special);
  const std::vector<PreservedToken> preserved{{special, text}};
  ConstraintMatcher matcher(compiler_->Compile(Request("gbnf", "root ::= \"" + text + "\" \"!\""), preserved));
  EXPECT_TRUE(matcher.IsPreserved(special));
  EXPECT_TRUE(matcher.IsAllowed(special));
  matcher.Accept(special);
  EXPECT_FALSE(matcher.IsAllowed(special));
  for (uint32_t id : Tokens("!")) matcher.Accept(id);
  EXPECT_TRUE(matcher.CanStop());
}

TEST_P(ConstraintMatcherTest, RemembersConstraintsByAllThatDecidesAboutThem) {
  const ConstraintRequest request = Request("gbnf", "root ::= \"x\"");
  EXPECT_EQ(compiler_->Compile(request), compiler_->Compile(request));
  ConstraintRequest lazy = request;
  lazy.lazy = true;
  lazy.triggers.push_back({ConstraintTrigger::Kind::kText, std::nullopt, "x"});
  EXPECT_NE(compiler_->Compile(request), compiler_->Compile(lazy));
}

TEST_P(ConstraintMatcherTest, ManyLevelsKeepExactMasks) {
  ConstraintMatcher matcher =
      Start(Request("json_schema", R"({"$defs":{"t":{"type":"array","items":{"$ref":"#/$defs/t"}}},
                                                              "$ref":"#/$defs/t"})"));
  const uint32_t open = Tokens("[")[0];
  for (int i = 0; i < 20000; ++i) matcher.Accept(open);
  EXPECT_FALSE(matcher.CanStop());
  EXPECT_GE(matcher.peak_depth(), 19999u);
  const uint32_t close = Tokens("]")[0];
  for (int i = 0; i < 19999; ++i) matcher.Accept(close);
  EXPECT_FALSE(matcher.CanStop());
  matcher.Accept(close);
  EXPECT_TRUE(matcher.CanStop());
}

}  // namespace
}  // namespace owml::text
