// Replies as they arrive: order and validity of events, broken and endless ones.
#include <gmock/gmock.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/template/model_formatter.h"
#include "text/template/template_fixture.h"

namespace owml::text::test {
namespace {

using testing::HasSubstr;

FormattedPrompt Prompt(const std::string& name, const Conversation& conversation) {
  const auto path = std::filesystem::path(OWML_LLAMA_DATA_DIR) / "templates" / (name + ".jinja");
  return ModelFormatter(ReadTextFile(path), "<s>", "</s>", name).Format(conversation);
}

const char* const kQwen = "Qwen-Qwen2.5-7B-Instruct";

std::string Call(const std::string& name, const std::string& arguments) {
  return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
}

TEST(ReplyParser, ContentComesBeforeACallAndBothComeInPieces) {
  const FormattedPrompt prompt = Prompt(kQwen, Asked("Hi", true));
  const auto parser = prompt.syntax->CreateParser();
  std::vector<ReplyEvent> events;
  parser->Append("Let me ", &events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "Let me ");
  parser->Append("look.", &events);
  EXPECT_EQ(events.size(), 2u);
  for (const char c : "\n" + Call("get_weather", R"({"city": "Oslo"})")) parser->Append(std::string(1, c), &events);
  parser->Finish(&events);
  Reply reply;
  Collect(events, &reply);
  EXPECT_EQ(reply.content.substr(0, 12), "Let me look.");
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_EQ(reply.calls[0].arguments, R"({"city": "Oslo"})");
  EXPECT_GT(reply.events, 6u);  // the arguments did not come in one piece
}

TEST(ReplyParser, IdsAreNewInTheConversationWhereTheModelGivesNone) {
  Conversation conversation = Asked("Hi", true);
  conversation.messages.push_back(Calls({{"call00002", "add", R"({"a":1,"b":2})", true}}));
  ConversationMessage result = Says("tool", "3");
  result.tool_call_id = "call00002";
  conversation.messages.push_back(result);
  const FormattedPrompt prompt = Prompt(kQwen, conversation);
  const Reply reply =
      ParseWhole(*prompt.syntax, Call("add", R"({"a": 1, "b": 2})") + "\n" + Call("add", R"({"a": 3, "b": 4})"));
  ASSERT_EQ(reply.calls.size(), 2u);
  EXPECT_NE(reply.calls[0].id, reply.calls[1].id);
  for (const Reply::Call& call : reply.calls) {
    EXPECT_NE(call.id, "call00002");
    EXPECT_EQ(call.id.size(), 9u);  // what Mistral's templates require
  }
}

TEST(ReplyParser, ABrokenCallIsOneErrorAndEndsBeforeTheReply) {
  const FormattedPrompt prompt = Prompt(kQwen, Asked("Hi", true));
  for (const char* broken : {"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Os",
                             "<tool_call>\n{\"name\": \"no_such_tool\", \"arguments\": {}}\n</tool_call>",
                             "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": }}\n</tool_call>",
                             "<tool_call>\n[]\n</tool_call>", "Well.<tool_call>\noops\n</tool_call>"}) {
    for (size_t size : {size_t{1}, size_t{1000}}) {
      const Reply reply = Parse(*prompt.syntax, broken, [&] { return size; });  // checks the order
      EXPECT_NE(reply.error, "") << broken;
    }
  }
}

TEST(ReplyParser, ContentWithBracketsIsNoBrokenCall) {
  // Calls of this family begin with a bare brace.
  const FormattedPrompt prompt = Prompt("meta-llama-Llama-3.1-8B-Instruct", Asked("Hi", true));
  const std::string code = "int main() { return {}; }\nfor (;;) { x[0] = {1}; }";
  for (size_t size : {size_t{1}, size_t{7}, size_t{1000}}) {
    const Reply reply = Parse(*prompt.syntax, code, [&] { return size; });
    EXPECT_EQ(reply.content, code);
    EXPECT_EQ(reply.error, "");
  }
  EXPECT_EQ(ParseWhole(*prompt.syntax, R"({"name": "add", "parameters": {"a": 1, "b": 2}})").calls.size(), 1u);
}

TEST(ReplyParser, TextThatOnlyBeginsLikeATagIsContentInTheEnd) {
  const FormattedPrompt prompt = Prompt(kQwen, Asked("Hi", true));
  for (size_t size : {size_t{1}, size_t{1000}}) {
    EXPECT_EQ(Parse(*prompt.syntax, "a <tool", [&] { return size; }).content, "a <tool");
    EXPECT_EQ(Parse(*prompt.syntax, "a <tool> b", [&] { return size; }).content, "a <tool> b");
  }
}

TEST(ReplyParser, AnEmptyReplyIsComplete) {
  for (const bool tools : {false, true}) {
    const Reply reply = ParseWhole(*Prompt(kQwen, Asked("Hi", tools)).syntax, "");
    EXPECT_EQ(reply.error, "");
    EXPECT_EQ(reply.content, "");
  }
}

TEST(ReplyParser, DeepNestingInArgumentsIsAnError) {
  const FormattedPrompt prompt = Prompt(kQwen, Asked("Hi", true));
  const std::string deep = Call("add", "{\"a\": " + std::string(20000, '[') + std::string(20000, ']') + "}");
  EXPECT_NE(ParseWhole(*prompt.syntax, deep).error, "");
}

// The processor's time for a reply of 400 000 bytes in the pieces of 100 000 tokens.
double SecondsOf(const ReplySyntax& syntax, const std::string& reply, Reply* read) {
  const std::clock_t begin = std::clock();
  *read = Parse(syntax, reply, [] { return size_t{4}; });
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(ReplyParser, LongRepliesTakeLinearTime) {
  const FormattedPrompt prompt = Prompt(kQwen, Asked("Hi", true));
  std::string prose;
  while (prose.size() < 400000) prose += "A line with <b>tags</b>, a < b and \"quotes\".\n";
  Reply reply;
  EXPECT_LT(SecondsOf(*prompt.syntax, prose, &reply), 10);
  EXPECT_EQ(reply.error, "");
  EXPECT_TRUE(reply.content == prose) << reply.content.size() << " bytes";
  std::string text;
  while (text.size() < 400000) text += "A line with tags, a < b and 'quotes'.\\n";
  EXPECT_LT(SecondsOf(*prompt.syntax, Call("get_weather", "{\"city\": \"" + text + "\"}"), &reply), 20);
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_TRUE(reply.calls[0].arguments == "{\"city\": \"" + text + "\"}");
  EXPECT_EQ(reply.error, "");
}

TEST(ReplyParser, ReasoningStreamsAsItComes) {
  const FormattedPrompt prompt = Prompt("Qwen-Qwen3-0.6B", Asked("Hi"));
  const auto parser = prompt.syntax->CreateParser();
  std::vector<ReplyEvent> events;
  for (const char* piece : {"<think>", "\n", "One", " two", " three"}) parser->Append(piece, &events);
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events.back().text, " three");
  EXPECT_EQ(events.back().kind, ReplyEvent::Kind::kReasoning);
}

}  // namespace
}  // namespace owml::text::test
