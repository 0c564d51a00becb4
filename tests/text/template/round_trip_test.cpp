// Replies as each model family writes them: the published templates write an assistant's turn into a history, and the
// parser of the prompt before it reads that turn back.
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "text/template/model_formatter.h"
#include "text/template/template_fixture.h"

namespace owml::text::test {
namespace {

// What ends a turn as a token of its own, which ends a generation.
std::string WithoutTurnEnd(std::string reply, const std::string& usual_end) {
  if (!usual_end.empty() && reply.ends_with(usual_end)) reply.resize(reply.size() - usual_end.size());
  for (const char* end : {"<|im_end|>",
                          "<|eom_id|>",
                          "<|eot_id|>",
                          "<|calls|>",
                          "<|call|>",
                          "<|END_OF_TURN_TOKEN|>",
                          "<|tool_response>",
                          "</s>",
                          "<SPECIAL_12>",
                          "[e~[",
                          "<|endoftext|>",
                          "<|end_of_text|>",
                          "<end_of_sentence>",
                          "<seed:eos>",
                          "<|role_end|>",
                          "<|user|>",
                          "<turn|>",
                          "<|eot|>",
                          "<｜end▁of▁sentence｜>",
                          "<|observation|>",
                          "<｜hy_eos:opensource｜>",
                          "<sep>",
                          "\n</assistant>",
                          "</assistant>",
                          "<end_of_turn>",
                          "<|end▁of▁sentence|>"}) {
    reply.erase(std::min(reply.find(end), reply.size()));
  }
  for (const char* end : {"\n", "<|end|>"}) {
    if (reply.ends_with(end)) reply.resize(reply.size() - std::string_view(end).size());
  }
  return reply;
}

// The text that a model would have written for `turn`; none when the template shows the turn in another way than its
// own prompt begins it.
std::optional<std::string> WrittenBy(const ModelFormatter& formatter, const Conversation& before,
                                     const FormattedPrompt& prompt, const ConversationMessage& turn) {
  Conversation after = before;
  after.messages.push_back(turn);
  after.add_generation_prompt = false;
  const std::string shown = TextOf(prompt.prompt);
  const std::string whole = TextOf(formatter.Format(after).prompt);
  if (whole.compare(0, shown.size(), shown) != 0) return std::nullopt;
  after.messages.back() = Says("assistant", "XYZZY");
  const std::string plain = TextOf(formatter.Format(after).prompt);
  return WithoutTurnEnd(whole.substr(shown.size()), plain.substr(plain.rfind("XYZZY") + 5));
}

class RoundTrip : public testing::TestWithParam<std::filesystem::path> {
 protected:
  static std::string Name() { return GetParam().stem().string(); }

  // Templates without tools, or without a form of calls.
  static bool ShowsNoCalls() {
    static const std::set<std::string> names = {"HuggingFaceTB-SmolLM3-3B",
                                                "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
                                                "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
                                                "deepseek-ai-DeepSeek-V3.1",
                                                "fireworks-ai-llama-3-firefunction-v2",
                                                "google-gemma-2-2b-it",
                                                "ibm-granite-granite-3.3-2B-Instruct",
                                                "llama-cpp-rwkv-world",
                                                "microsoft-Phi-3.5-mini-instruct"};
    return names.count(Name()) > 0;
  }

  void ExpectCallsComeBack(std::vector<ToolCall> calls) {
    const ModelFormatter formatter(ReadTextFile(GetParam()), "<s>", "</s>", Name());
    const Conversation before = Asked("What now?", true);
    if (ShowsNoCalls()) {
      EXPECT_THROW(formatter.Format(before), Error);
      return;
    }
    const FormattedPrompt prompt = formatter.Format(before);
    EXPECT_TRUE(prompt.syntax->separates_tool_calls());
    std::optional<std::string> reply;
    // A prompt that begins with reasoning needs a turn that does.
    for (const char* reasoning : {"", "Let me look."}) {
      ConversationMessage turn = Calls(calls);
      if (*reasoning) turn.reasoning = reasoning;
      try {
        reply = WrittenBy(formatter, before, prompt, turn);
      } catch (const Error& error) {
        if (calls.size() > 1) GTEST_SKIP() << error.what();
        throw;
      }
      if (reply) break;
    }
    const bool all_shown = reply && std::all_of(calls.begin(), calls.end(), [&](const ToolCall& call) {
                             return reply->find(call.name) != std::string::npos;
                           });
    if (!all_shown) GTEST_SKIP() << "the template shows such a turn in another way";
    std::minstd_rand random(7);
    const Reply read[] = {Parse(*prompt.syntax, *reply, [] { return size_t{1}; }),
                          Parse(*prompt.syntax, *reply, [&] { return 1 + random() % 12; }),
                          ParseWhole(*prompt.syntax, *reply)};
    for (const Reply& one : read) {
      EXPECT_EQ(one.error, "") << *reply;
      EXPECT_EQ(one.content.find_first_not_of(" \n"), std::string::npos) << one.content;
      ASSERT_EQ(one.calls.size(), calls.size()) << *reply;
      for (size_t i = 0; i < calls.size(); ++i) {
        EXPECT_EQ(one.calls[i].name, calls[i].name);
        EXPECT_EQ(nlohmann::json::parse(one.calls[i].arguments), nlohmann::json::parse(calls[i].arguments));
        EXPECT_FALSE(one.calls[i].id.empty());
        EXPECT_EQ(one.calls[i].id, read[0].calls[i].id);
      }
    }
  }
};

TEST_P(RoundTrip, OneCallComesBack) {
  ExpectCallsComeBack({{"call00001", "get_weather", R"({"city":"K\u00f6ln \"Dom\" {1}","days":2})", true}});
}

TEST_P(RoundTrip, ACallWithFewerArgumentsComesBack) {
  // LFM2.5's template writes line ends into quotes as they are, which its own form of strings does not allow.
  const bool raw_line_ends = Name().rfind("LFM2", 0) == 0;
  ExpectCallsComeBack(
      {{"call00001", "get_weather", raw_line_ends ? R"({"city":"Oslo"})" : R"({"city":"Oslo\nCentre"})", true}});
}

TEST_P(RoundTrip, TwoCallsComeBack) {
  // llama.cpp's grammars of these families take one call in a reply.
  static const std::set<std::string> single = {"MiniMax-M1", "MiniMax-M2", "meetkai-functionary-medium-v3.2",
                                               "upstage-Solar-Open-100B"};
  if (single.count(Name()) > 0) GTEST_SKIP() << "one call in a reply";
  ExpectCallsComeBack(
      {{"call00001", "get_weather", R"({"city":"Oslo"})", true}, {"call00002", "add", R"({"a":1,"b":-2})", true}});
}

TEST_P(RoundTrip, ContentComesBackWholeWithAndWithoutTools) {
  const ModelFormatter formatter(ReadTextFile(GetParam()), "<s>", "</s>", Name());
  const std::string text =
      "It is <b>four</b>, [they] say {so}.\n\nAll of them: 1 < 2, a -> b, d\u00e9j\u00e0 vu \U0001F600";
  for (const bool tools : {false, true}) {
    if (tools && ShowsNoCalls()) continue;
    const Conversation before = Asked("What now?", tools);
    const FormattedPrompt prompt = formatter.Format(before);
    auto reply = WrittenBy(formatter, before, prompt, Says("assistant", text));
    if (!reply) {
      ConversationMessage turn = Says("assistant", text);
      turn.reasoning = "Let me look.";
      reply = WrittenBy(formatter, before, prompt, turn);
    }
    if (!reply || reply->find(text) == std::string::npos) continue;
    // Their histories leave out the tags that stand around content in a reply.
    static const std::set<std::string> untagged = {"NVIDIA-Nemotron-Nano-v2", "upstage-Solar-Open-100B"};
    if (untagged.count(Name()) > 0) continue;
    std::minstd_rand random(11);
    for (const Reply& one :
         {Parse(*prompt.syntax, *reply, [] { return size_t{1}; }),
          Parse(*prompt.syntax, *reply, [&] { return 1 + random() % 12; }), ParseWhole(*prompt.syntax, *reply)}) {
      EXPECT_EQ(one.error, "");
      EXPECT_EQ(one.content.substr(std::min(one.content.find_first_not_of(" \n"), one.content.size())), text);
      EXPECT_TRUE(one.calls.empty());
    }
  }
}

TEST_P(RoundTrip, ReasoningComesBackApartFromContent) {
  const ModelFormatter formatter(ReadTextFile(GetParam()), "<s>", "</s>", Name());
  const Conversation before = Asked("What now?");
  const FormattedPrompt prompt = formatter.Format(before);
  if (!prompt.syntax->separates_reasoning()) GTEST_SKIP() << "no reasoning";
  ConversationMessage turn = Says("assistant", "It is four.");
  turn.reasoning = "Two and two,\nthat is < five.";
  const auto reply = WrittenBy(formatter, before, prompt, turn);
  if (!reply || reply->find("Two and two") == std::string::npos) GTEST_SKIP() << "not shown in a history";
  std::minstd_rand random(13);
  for (const Reply& one :
       {Parse(*prompt.syntax, *reply, [] { return size_t{1}; }),
        Parse(*prompt.syntax, *reply, [&] { return 1 + random() % 12; }), ParseWhole(*prompt.syntax, *reply)}) {
    EXPECT_EQ(one.error, "");
    EXPECT_NE(one.reasoning.find("Two and two,\nthat is < five."), std::string::npos) << one.reasoning;
    EXPECT_NE(one.content.find("It is four."), std::string::npos) << one.content;
    EXPECT_EQ(one.content.find("Two and two"), std::string::npos) << one.content;
  }
}

INSTANTIATE_TEST_SUITE_P(Published, RoundTrip, testing::ValuesIn(PublishedTemplates()),
                         [](const testing::TestParamInfo<std::filesystem::path>& test) {
                           std::string name = test.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace owml::text::test
