// The constraints that chat formats ask for: their grammars and triggers compile, and whatever a grammar lets through
// is a call that the format's parser finds.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "base/error.h"
#include "text/constraint/begun_grammar.h"
#include "text/constraint/compiled_constraint.h"
#include "text/constraint/parser_states.h"
#include "text/constraint/pattern_search.h"
#include "text/template/model_formatter.h"
#include "text/template/template_fixture.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

using test::Asked;
using test::ParseWhole;
using test::PublishedTemplates;
using test::ReadTextFile;

class RequiredCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(OWML_LLAMA_DATA_DIR).empty()) GTEST_SKIP() << "tools/bootstrap has not fetched the templates";
  }
};

// What a template's format asks of a conversation with two tools; nothing where it refuses them.
std::optional<FormattedPrompt> Formatted(const std::filesystem::path& path, ToolChoice choice) {
  Conversation conversation = Asked("What is the weather in Rome?", true);
  conversation.tool_choice = choice;
  try {
    return ModelFormatter(ReadTextFile(path), "<s>", "</s>", path.filename().string()).Format(conversation);
  } catch (const Error& error) {
    if (error.code() == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) || error.code() == E_INVALIDARG) return std::nullopt;
    throw;
  }
}

// A text in a grammar: some bytes at random, then the shortest way to an end.
class Writer {
 public:
  explicit Writer(const ConstraintRequest& request)
      : states_(std::make_shared<GrammarProgram>(GrammarProgram::Compile(ReadConstraint(request)))),
        at_(states_.Start()) {
    if (request.lazy) return;
    for (char c : SplitBegunGrammar(request.value).begun_with) at_ = states_.Step(at_, static_cast<uint8_t>(c));
  }

  std::optional<std::string> Write(std::mt19937* random, size_t length) {
    std::string text;
    ParserStates::Set set = at_;
    for (size_t i = 0; i < length; ++i) {
      std::vector<uint8_t> bytes;
      for (uint32_t byte = 0x20; byte < 0x7F; ++byte) {
        if (states_.Step(set, static_cast<uint8_t>(byte)) != ParserStates::kDead)
          bytes.push_back(static_cast<uint8_t>(byte));
      }
      if (bytes.empty()) break;
      const uint8_t byte = bytes[(*random)() % bytes.size()];
      text.push_back(static_cast<char>(byte));
      set = states_.Step(set, byte);
    }
    const auto ending = Ending(set);
    if (!ending) return std::nullopt;
    return text + *ending;
  }

 private:
  // None where it is too far away to be found.
  std::optional<std::string> Ending(ParserStates::Set from) {
    std::map<ParserStates::Set, std::pair<ParserStates::Set, uint8_t>> reached{{from, {from, 0}}};
    std::deque<ParserStates::Set> open{from};
    while (!open.empty() && reached.size() < 20000) {
      ParserStates::Set set = open.front();
      open.pop_front();
      if (states_.CanEnd(set)) {
        std::string text;
        for (; set != from; set = reached[set].first) text.insert(text.begin(), static_cast<char>(reached[set].second));
        return text;
      }
      for (uint32_t byte = 0; byte < 256; ++byte) {
        const ParserStates::Set next = states_.Step(set, static_cast<uint8_t>(byte));
        if (next != ParserStates::kDead && reached.try_emplace(next, set, static_cast<uint8_t>(byte)).second) {
          open.push_back(next);
        }
      }
    }
    return std::nullopt;
  }

  ParserStates states_;
  ParserStates::Set at_;
};

TEST_F(RequiredCallsTest, WhateverTheGrammarLetsThroughIsACall) {
  std::mt19937 random(7);
  size_t formats = 0, texts = 0;
  std::set<std::filesystem::path> without_call;
  for (const auto& path : PublishedTemplates()) {
    const auto formatted = Formatted(path, ToolChoice::kRequired);
    if (!formatted) continue;
    SCOPED_TRACE(path.filename().string());
    ASSERT_TRUE(formatted->constraint);
    EXPECT_FALSE(formatted->constraint->lazy);
    ++formats;
    for (size_t length : {0, 30, 80}) {
      const auto written = Writer(*formatted->constraint).Write(&random, length);
      if (!written || ValidPrefix(*written) < written->size()) continue;
      const std::string& text = *written;
      ++texts;
      const auto reply = ParseWhole(*formatted->syntax, text);
      EXPECT_EQ(reply.error, "") << text;
      // A grammar reads what the format's parser reads in an order of its own: some let a call begin in reasoning that
      // was not closed or in content, where the parser leaves it.
      if (reply.calls.empty()) {
        without_call.insert(path);
        continue;
      }
      for (const auto& call : reply.calls) {
        EXPECT_TRUE(call.name == "get_weather" || call.name == "add") << text;
        const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
        ASSERT_TRUE(arguments.is_object()) << text << "\n" << call.arguments;
        if (call.name == "add") {
          EXPECT_TRUE(arguments.contains("a") && arguments["a"].is_number()) << text << "\n" << call.arguments;
          EXPECT_TRUE(arguments.contains("b") && arguments["b"].is_number()) << text << "\n" << call.arguments;
        } else {
          EXPECT_TRUE(arguments.contains("city") && arguments["city"].is_string()) << text << "\n" << call.arguments;
        }
      }
    }
  }
  EXPECT_GT(formats, 20u);
  EXPECT_GT(texts, formats);
  // Open; see docs/status.md.
  EXPECT_LT(2 * without_call.size(), formats);
  for (const auto& path : without_call) RecordProperty(path.filename().string(), "lets through what is no call");
}

TEST_F(RequiredCallsTest, LazyGrammarsAndTheirTriggersCompile) {
  size_t lazy = 0;
  for (const auto& path : PublishedTemplates()) {
    const auto formatted = Formatted(path, ToolChoice::kAuto);
    if (!formatted || !formatted->constraint || !formatted->constraint->lazy) continue;
    SCOPED_TRACE(path.filename().string());
    ++lazy;
    EXPECT_NO_THROW(GrammarProgram::Compile(ReadConstraint(*formatted->constraint)));
    EXPECT_FALSE(formatted->constraint->triggers.empty());
    for (const auto& trigger : formatted->constraint->triggers) {
      if (trigger.kind == ConstraintTrigger::Kind::kToken) continue;
      if (trigger.kind == ConstraintTrigger::Kind::kText) continue;
      EXPECT_NO_THROW(PatternSearch(Pattern::ParseTrigger(trigger.value, "trigger"), PatternSearch::Mode::kAnywhere))
          << trigger.value;
    }
  }
  EXPECT_GT(lazy, 10u);
}

}  // namespace
}  // namespace owml::text
