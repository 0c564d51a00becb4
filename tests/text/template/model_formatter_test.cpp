// The formatter mode that knows model families: prompts, constraints, and what it refuses.
#include "text/template/model_formatter.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "text/constraint/begun_grammar.h"
#include "text/template/portable_formatter.h"
#include "text/template/template_fixture.h"

namespace owml::text::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

std::string Published(const std::string& name) {
  return ReadTextFile(std::filesystem::path(OWML_LLAMA_DATA_DIR) / "templates" / (name + ".jinja"));
}

FormattedPrompt Format(const std::string& name, const Conversation& conversation) {
  return ModelFormatter(Published(name), "<s>", "</s>", name).Format(conversation);
}

std::string RefusalOf(const std::string& name, const Conversation& conversation, HRESULT code = kNotSupported) {
  try {
    Format(name, conversation);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

TEST(ModelFormatter, AnOrdinaryConversationIsWrittenAsTheTemplateWritesIt) {
  for (const char* name : {"Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B", "google-gemma-2-2b-it",
                           "microsoft-Phi-3.5-mini-instruct", "mistralai-Mistral-Nemo-Instruct-2407"}) {
    Conversation conversation = Asked("Hi");
    conversation.messages.push_back(Says("assistant", "Hello."));
    conversation.messages.push_back(Says("user", "Bye"));
    EXPECT_EQ(TextOf(Format(name, conversation).prompt),
              TextOf(PortableFormatter(Published(name), "<s>", "</s>", name).Format(conversation).prompt))
        << name;
  }
}

TEST(ModelFormatter, ACallLeftToTheModelWakesALazyConstraint) {
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", Asked("Hi", true));
  ASSERT_TRUE(prompt.constraint);
  EXPECT_TRUE(prompt.constraint->lazy);
  ASSERT_FALSE(prompt.constraint->triggers.empty());
  EXPECT_THAT(prompt.constraint->triggers[0].value, HasSubstr("<tool_call>"));
  EXPECT_THAT(TextOf(prompt.prompt), HasSubstr("get_weather"));
}

TEST(ModelFormatter, ARequiredCallIsConstrainedFromTheGenerationPromptOn) {
  Conversation conversation = Asked("Hi", true);
  conversation.tool_choice = ToolChoice::kRequired;
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  ASSERT_TRUE(prompt.constraint);
  EXPECT_EQ(prompt.constraint->syntax, ConstraintRequest::kGbnf);
  EXPECT_FALSE(prompt.constraint->lazy);
  EXPECT_EQ(SplitBegunGrammar(prompt.constraint->value).begun_with, prompt.generation_prompt);
  EXPECT_THAT(prompt.constraint->value, HasSubstr("get_weather"));
  EXPECT_THAT(prompt.constraint->value, HasSubstr("%json_schema"));
}

TEST(ModelFormatter, ANamedCallLeavesAllToolsInThePromptAndOneInTheGrammar) {
  Conversation conversation = Asked("Hi", true);
  conversation.tool_choice = ToolChoice::kNamed;
  conversation.named_tool = "add";
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  EXPECT_THAT(TextOf(prompt.prompt), HasSubstr("get_weather"));
  ASSERT_TRUE(prompt.constraint);
  EXPECT_THAT(prompt.constraint->value, HasSubstr("add"));
  EXPECT_THAT(prompt.constraint->value, Not(HasSubstr("get_weather")));
}

TEST(ModelFormatter, WithoutACallTheToolsStayInThePrompt) {
  Conversation conversation = Asked("Hi", true);
  conversation.tool_choice = ToolChoice::kNone;
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  EXPECT_THAT(TextOf(prompt.prompt), HasSubstr("get_weather"));
  EXPECT_FALSE(prompt.constraint);
  EXPECT_FALSE(prompt.syntax->separates_tool_calls());
}

TEST(ModelFormatter, AResponseSchemaBecomesTheGrammarOfTheReply) {
  Conversation conversation = Asked("Hi");
  conversation.response_schema =
      JsonText{R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]})"};
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  ASSERT_TRUE(prompt.constraint);
  EXPECT_FALSE(prompt.constraint->lazy);
  EXPECT_THAT(prompt.constraint->value, HasSubstr("%json_schema"));
  EXPECT_EQ(ParseWhole(*prompt.syntax, R"({"a": 1})").content, R"({"a": 1})");
}

TEST(ModelFormatter, GrammarsAndExpressionsOfTheCallerAreHandedOn) {
  Conversation conversation = Asked("Hi");
  conversation.regex = "[0-9]+";
  FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  ASSERT_TRUE(prompt.constraint);
  EXPECT_EQ(prompt.constraint->syntax, ConstraintRequest::kRegex);
  EXPECT_EQ(prompt.constraint->value, "[0-9]+");
  conversation.regex.clear();
  conversation.grammar = "root ::= \"a\"";
  prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  EXPECT_EQ(prompt.constraint->syntax, ConstraintRequest::kGbnf);
  conversation.tools = {AddTool()};
  EXPECT_THAT(RefusalOf("Qwen-Qwen2.5-7B-Instruct", conversation), HasSubstr("only one of them"));
}

TEST(ModelFormatter, AKeywordThatIsNotEnforcedIsRefusedWhereACallIsRequired) {
  Conversation conversation = Asked("Hi");
  conversation.tools = {{"add", "", {R"({"type":"object","properties":{"a":{"type":"integer","sprinkle":1}}})"}}};
  conversation.tool_choice = ToolChoice::kRequired;
  EXPECT_THAT(RefusalOf("Qwen-Qwen2.5-7B-Instruct", conversation), HasSubstr("sprinkle"));
  // Left to the model, the prompt is good and nothing is promised.
  conversation.tool_choice = ToolChoice::kAuto;
  const FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  EXPECT_FALSE(prompt.constraint);
  EXPECT_EQ(ParseWhole(*prompt.syntax, "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>")
                .calls.size(),
            1u);
}

TEST(ModelFormatter, FormatsThatWriteArgumentsOneByOneSayWhatTheyCannotHold) {
  Conversation conversation = Asked("Hi");
  conversation.tool_choice = ToolChoice::kRequired;
  conversation.tools = {
      {"paint", "", {R"({"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}}})"}}};
  EXPECT_THAT(RefusalOf("Qwen3-Coder", conversation), HasSubstr("'enum' of the argument 'colour'"));
  conversation.tools = {
      {"paint", "", {R"({"type":"object","properties":{"coats":{"type":"integer","minimum":1}},"minProperties":1})"}}};
  EXPECT_THAT(RefusalOf("Qwen3-Coder", conversation), HasSubstr("'minProperties'"));
  // A required argument is held by a format whose grammar always writes it.
  conversation.tools = {WeatherTool()};
  EXPECT_TRUE(Format("deepseek-ai-DeepSeek-V3.2", conversation).constraint);
  EXPECT_THAT(RefusalOf("openbmb-MiniCPM5-1B", conversation), HasSubstr("'city' is required"));
}

TEST(ModelFormatter, UnusualSchemasOfToolsDoNotStopAPrompt) {
  Conversation conversation = Asked("Hi");
  for (
      const char* schema :
      {R"({"type":"object","properties":{"a":true,"b":{"type":"colour"},"c":{"$ref":"http://x/y"}}})",
       R"({"type":"object","properties":{"a":{"type":["string","null"],"format":"uri"}}})", R"({})",
       R"({"$defs":{"P":{"type":"object","properties":{"x":{"type":"number"}}}},"type":"object","properties":{"p":{"$ref":"#/$defs/P"}}})"}) {
    conversation.tools = {{"add", "", {schema}}};
    EXPECT_THAT(TextOf(Format("Qwen-Qwen2.5-7B-Instruct", conversation).prompt), HasSubstr("add")) << schema;
    EXPECT_THAT(TextOf(Format("Qwen3-Coder", conversation).prompt), HasSubstr("add")) << schema;
  }
}

TEST(ModelFormatter, ThinkingIsSwitchedInTheTemplate) {
  Conversation conversation = Asked("Hi");
  conversation.enable_thinking = false;
  EXPECT_THAT(TextOf(Format("Qwen-Qwen3-0.6B", conversation).prompt), HasSubstr("</think>"));
  conversation.enable_thinking = true;
  EXPECT_THAT(TextOf(Format("Qwen-Qwen3-0.6B", conversation).prompt), Not(HasSubstr("</think>")));
  EXPECT_THAT(RefusalOf("Qwen-Qwen2.5-7B-Instruct", conversation), HasSubstr("enableThinking"));
}

TEST(ModelFormatter, TheEffortOfReasoningIsATemplateValue) {
  Conversation conversation = Asked("Hi");
  conversation.values.emplace_back("reasoning_effort", std::string("high"));
  EXPECT_THAT(TextOf(Format("openai-gpt-oss-120b", conversation).prompt), HasSubstr("Reasoning: high"));
  EXPECT_THAT(RefusalOf("Qwen-Qwen2.5-7B-Instruct", conversation), HasSubstr("'reasoning_effort'"));
}

TEST(ModelFormatter, ContentAndReasoningAreContinuedInTheFamilysForm) {
  Conversation conversation = Asked("Hi");
  ConversationMessage begun = Says("assistant", "Hello, my ");
  conversation.messages.push_back(begun);
  conversation.continuation = Continuation::kContent;
  FormattedPrompt prompt = Format("Qwen-Qwen2.5-7B-Instruct", conversation);
  EXPECT_THAT(TextOf(prompt.prompt), testing::EndsWith("<|im_start|>assistant\nHello, my "));
  Reply reply = Parse(*prompt.syntax, "friend.", [] { return size_t{1}; });
  EXPECT_EQ(reply.content, "friend.");
  conversation.messages.back() = ConversationMessage();
  conversation.messages.back().role = "assistant";
  conversation.messages.back().reasoning = "Let me";
  conversation.continuation = Continuation::kAuto;
  prompt = Format("Qwen-Qwen3-0.6B", conversation);
  EXPECT_EQ(prompt.continuation, Continuation::kReasoning);
  EXPECT_THAT(TextOf(prompt.prompt), testing::EndsWith("Let me"));
  reply = Parse(*prompt.syntax, " see.\n</think>\n\nDone.", [] { return size_t{1}; });
  EXPECT_EQ(reply.reasoning.substr(0, 5), " see.");
  EXPECT_EQ(reply.content, "Done.");
}

TEST(ModelFormatter, NullDescriptionsAndIdsAreEmpty) {
  Conversation conversation = Asked("Hi", true);
  conversation.tools[0].description.clear();
  conversation.messages.push_back(Calls({{"", "add", R"({"a":1,"b":2})", true}}));
  ConversationMessage result = Says("tool", "3");
  conversation.messages.push_back(result);
  EXPECT_THAT(TextOf(Format("Qwen-Qwen2.5-7B-Instruct", conversation).prompt),
              HasSubstr("<tool_response>\n3\n</tool_response>"));
}

TEST(ModelFormatter, ArgumentsThatAreNoJsonTravelOnAsTheyAre) {
  for (const char* name :
       {"Qwen-Qwen2.5-7B-Instruct", "meta-llama-Llama-3.1-8B-Instruct", "mistralai-Mistral-Nemo-Instruct-2407"}) {
    Conversation conversation = Asked("Hi", true);
    conversation.messages.push_back(Calls({{"call00001", "add", "{\"a\": 1, oops", false}}));
    ConversationMessage result = Says("tool", "error");
    result.tool_call_id = "call00001";
    conversation.messages.push_back(result);
    EXPECT_THAT(TextOf(Format(name, conversation).prompt), HasSubstr("oops")) << name;
  }
}

}  // namespace
}  // namespace owml::text::test
