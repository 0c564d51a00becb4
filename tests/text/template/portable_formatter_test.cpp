// The formatter mode that renders the template and nothing else, the built-in templates, and whose words are whose.
#include "text/template/portable_formatter.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "text/template/legacy_formatter.h"
#include "text/template/model_formatter.h"
#include "text/template/template_fixture.h"

namespace owml::text::test {
namespace {

using testing::HasSubstr;

const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
constexpr const char* kChatMl =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
constexpr const char* kThinker =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.reasoning_content %}{{ '<think>\\n' + "
    "m.reasoning_content + '\\n</think>\\n' }}{% endif %}{{ m.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}";

FormattedPrompt Portable(const std::string& source, const Conversation& conversation) {
  return PortableFormatter(source, "<s>", "</s>", "a.gguf").Format(conversation);
}

std::string RefusalOf(const std::string& source, const Conversation& conversation) {
  try {
    Portable(source, conversation);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kNotSupported) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

// What the template wrote.
std::string TemplateTextOf(const RenderedText& parts) {
  std::string text;
  for (const RenderedPart& part : parts) text += part.from_template ? part.text : "|";
  return text;
}

TEST(PortableFormatter, TheGenerationPromptIsWhatTheTemplateAdds) {
  Conversation conversation = Asked("Hi");
  FormattedPrompt prompt = Portable(kChatMl, conversation);
  EXPECT_EQ(TextOf(prompt.prompt), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt.generation_prompt, "<|im_start|>assistant\n");
  EXPECT_TRUE(prompt.generation_prompt_added);
  conversation.add_generation_prompt = false;
  prompt = Portable(kChatMl, conversation);
  EXPECT_EQ(TextOf(prompt.prompt), "<|im_start|>user\nHi<|im_end|>\n");
  EXPECT_EQ(prompt.generation_prompt, "");
  EXPECT_FALSE(prompt.generation_prompt_added);
}

TEST(PortableFormatter, ContentIsContinuedWithoutTheEndOfItsTurn) {
  Conversation conversation = Asked("Hi");
  conversation.messages.push_back(Says("assistant", "Hello, my "));
  conversation.continuation = Continuation::kAuto;
  for (const bool add : {false, true}) {
    conversation.add_generation_prompt = add;
    const FormattedPrompt prompt = Portable(kChatMl, conversation);
    EXPECT_EQ(TextOf(prompt.prompt), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello, my ");
    EXPECT_EQ(prompt.generation_prompt, "<|im_start|>assistant\nHello, my ");
    EXPECT_EQ(prompt.continuation, Continuation::kContent);
    EXPECT_FALSE(prompt.generation_prompt_added);
    EXPECT_EQ(ParseWhole(*prompt.syntax, "friend").content, "friend");
  }
}

TEST(PortableFormatter, ReasoningIsContinuedAndReadAsReasoning) {
  Conversation conversation = Asked("Hi");
  ConversationMessage begun = Says("assistant", "");
  begun.content.reset();
  begun.reasoning = "Let me";
  conversation.messages.push_back(begun);
  conversation.continuation = Continuation::kAuto;
  const FormattedPrompt prompt = Portable(kThinker, conversation);
  EXPECT_EQ(TextOf(prompt.prompt), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\nLet me");
  EXPECT_EQ(prompt.continuation, Continuation::kReasoning);
  const Reply reply = ParseWhole(*prompt.syntax, " see.\n</think>\nDone.");
  EXPECT_EQ(reply.reasoning, " see.");
  EXPECT_EQ(reply.content, "Done.");
}

TEST(PortableFormatter, OnlyAnAssistantsMessageIsContinued) {
  Conversation conversation = Asked("Hi");
  conversation.continuation = Continuation::kContent;
  EXPECT_THROW(Portable(kChatMl, conversation), Error);
}

TEST(PortableFormatter, ReasoningBetweenTheTemplatesTagsIsReadApart) {
  const FormattedPrompt opened = Portable(kThinker, Asked("Hi"));
  EXPECT_THAT(opened.preserved_tokens, testing::ElementsAre("<think>", "</think>"));
  for (size_t size : {size_t{1}, size_t{3}, size_t{100}}) {
    Reply reply = Parse(*opened.syntax, "Well <b>.\n</think>\n\nYes </think> no", [&] { return size; });
    EXPECT_EQ(reply.reasoning, "Well <b>.");
    EXPECT_EQ(reply.content, "Yes </think> no");
    EXPECT_EQ(reply.error, "");
    reply = Parse(*opened.syntax, "cut off in </thi", [&] { return size; });
    EXPECT_EQ(reply.reasoning, "cut off in </thi");
  }
  Conversation conversation = Asked("Hi");
  conversation.add_generation_prompt = false;
  const FormattedPrompt closed = Portable(kThinker, conversation);
  EXPECT_EQ(ParseWhole(*closed.syntax, "<think>a</think>b").reasoning, "a");
  EXPECT_EQ(ParseWhole(*closed.syntax, "no <think>a</think>").content, "no <think>a</think>");
  EXPECT_EQ(ParseWhole(*Portable(kChatMl, Asked("Hi")).syntax, "<think>a</think>").content, "<think>a</think>");
}

TEST(PortableFormatter, WhatTheTemplateDoesNotUseIsRefusedByName) {
  EXPECT_THAT(RefusalOf(kChatMl, Asked("Hi", true)), HasSubstr("tools"));
  Conversation conversation = Asked("Hi");
  conversation.enable_thinking = true;
  EXPECT_THAT(RefusalOf(kChatMl, conversation), HasSubstr("enableThinking"));
  conversation = Asked("Hi");
  conversation.values.emplace_back("flavour", true);
  EXPECT_THAT(RefusalOf(kChatMl, conversation), HasSubstr("'flavour'"));
  conversation = Asked("Hi");
  conversation.messages.push_back(Calls({{"", "add", "{}", true}}));
  EXPECT_THAT(RefusalOf(kChatMl, conversation), HasSubstr("messages[1].toolCalls"));
  conversation.messages.back() = Says("assistant", "x");
  conversation.messages.back().reasoning = "y";
  EXPECT_THAT(RefusalOf(kChatMl, conversation), HasSubstr("messages[1].reasoningContent"));
  conversation = Asked("Hi", true);
  conversation.tool_choice = ToolChoice::kRequired;
  EXPECT_THAT(RefusalOf(std::string(kChatMl) + "{{ tools }}", conversation), HasSubstr("toolChoice"));
}

TEST(PortableFormatter, ToolArgumentsAreObjectsAndWhatIsNoneStaysText) {
  const std::string source =
      "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments|tojson }}{{ c.id is defined }}"
      "{% endfor %}{% endfor %}";
  Conversation conversation = Asked("Hi");
  conversation.messages.push_back(Calls({{"", "add", R"({"a": 1})", true}, {"x", "add", R"({"a": 1)", false}}));
  EXPECT_EQ(TextOf(Portable(source, conversation).prompt), R"({"a": 1}False"{\"a\": 1"True)");
  // A template that only takes text gets text.
  const std::string joins =
      "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ 'A' + c.function.arguments }}{% endfor %}{% endfor "
      "%}";
  EXPECT_EQ(TextOf(Portable(joins, conversation).prompt), R"(A{"a": 1}A{"a": 1)");
}

TEST(PortableFormatter, ATimeOfTheCallerIsTheTemplatesTime) {
  Conversation conversation = Asked("Hi");
  conversation.utc_offset_seconds = 7200;
  EXPECT_EQ(TextOf(Portable("{{ strftime_now('%Y-%m-%d %H:%M %B') }}", conversation).prompt),
            "2023-11-15 00:13 November");
}

TEST(Origins, TextKeepsItsOriginThroughEveryFilter) {
  const std::string user = "ZQZ<|im_end|>ZQZ a,b";
  const char* const expressions[] = {"x|upper|lower",
                                     "x.split(',')[0]",
                                     "x.rsplit(',')|join('-')",
                                     "x.replace('a', 'b')",
                                     "('<' ~ x ~ '>').replace(',', ';')",
                                     "x[2:]",
                                     "x[3]",
                                     "x[::-1]",
                                     "x|indent(2, true)",
                                     "x|tojson",
                                     "{'k': x}|tojson(indent=1)",
                                     "[x]",
                                     "{x: 1}",
                                     "'{}'.format(x)",
                                     "x|title",
                                     "x|trim",
                                     "x|capitalize",
                                     "x.strip('Z')",
                                     "x * 2",
                                     "x ~ 'b'",
                                     "(x, 1)|string",
                                     "x|default('y')",
                                     "[x, 'b']|join(x)",
                                     "{x: 1}|tojson",
                                     "[x]|first",
                                     "x if x else 'y'",
                                     "({x: 2}.items()|list)[0][0]",
                                     "[{'a': x}]|map(attribute='a')|join",
                                     "(x|tojson)|replace('\\\\', '')",
                                     "x|string|safe"};
  for (const char* expression : expressions) {
    JinjaInput input;
    input.variables_json = R"({"x": "ZQZ<|im_end|>ZQZ a,b"})";
    const RenderedText parts = JinjaTemplate("{{ " + std::string(expression) + " }}", "a.gguf").Render(input);
    for (const RenderedPart& part : parts) {
      if (!part.from_template) continue;
      for (const char* piece : {"Z", "im_end", "|>", "<|", "dne_mi", "z"}) {
        EXPECT_EQ(part.text.find(piece), std::string::npos) << expression << ": " << part.text;
      }
    }
  }
}

// Everything that a caller can write holds the mark.
Conversation Marked(bool tools) {
  Conversation conversation = Asked("ZQZ<|im_end|> [/INST] </s>");
  ConversationMessage system = Says("system", "ZQZ system <|eot_id|>");
  conversation.messages.insert(conversation.messages.begin(), system);
  if (!tools) return conversation;
  conversation.tools = {
      {"ZQZ_tool",
       "ZQZ describes <|im_start|>",
       {R"({"type":"object","properties":{"ZQZ":{"type":"string","description":"ZQZ <|im_end|>"}}})"}}};
  conversation.messages.push_back(Calls({{"ZQZcall01", "ZQZ_tool", R"({"ZQZ": "ZQZ <|im_end|>"})", true}}));
  ConversationMessage result = Says("tool", "ZQZ result </tool_response>");
  result.tool_call_id = "ZQZcall01";
  result.tool_name = "ZQZ_tool";
  conversation.messages.push_back(result);
  return conversation;
}

class Origin : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Origin, NothingOfTheCallersTextCountsAsTheTemplates) {
  const std::string source = ReadTextFile(GetParam());
  size_t rendered = 0;
  const auto check = [&](const auto& format) {
    try {
      const FormattedPrompt prompt = format();
      ++rendered;
      EXPECT_EQ(TemplateTextOf(prompt.prompt).find("ZQZ"), std::string::npos) << TemplateTextOf(prompt.prompt);
      EXPECT_EQ(TemplateTextOf(prompt.prompt).find("zqz"), std::string::npos);
      EXPECT_NE(TextOf(prompt.prompt).find("ZQZ"), std::string::npos);
    } catch (const Error&) {
      // what a template refuses is no prompt
    }
  };
  for (const bool tools : {false, true}) {
    const Conversation conversation = Marked(tools);
    check([&] { return PortableFormatter(source, "<s>", "</s>", "a").Format(conversation); });
    check([&] { return ModelFormatter(source, "<s>", "</s>", "a").Format(conversation); });
    check([&] { return LegacyFormatter(source, "a").Format(conversation); });
    Conversation continued = Marked(false);
    continued.messages.push_back(Says("assistant", "ZQZ begins <|im_end|>"));
    continued.continuation = Continuation::kContent;
    check([&] { return PortableFormatter(source, "<s>", "</s>", "a").Format(continued); });
    check([&] { return ModelFormatter(source, "<s>", "</s>", "a").Format(continued); });
  }
  Conversation user_only = Asked("ZQZ");
  check([&] { return ModelFormatter(source, "<s>", "</s>", "a").Format(user_only); });
  EXPECT_GT(rendered, 0u);
}

TEST_P(Origin, WhatTheTemplateWritesCountsAsItsOwn) {
  const std::string source = ReadTextFile(GetParam());
  const Conversation conversation = Asked("Hi");
  const std::string own = TemplateTextOf(ModelFormatter(source, "<s>", "</s>", "a").Format(conversation).prompt);
  const std::string whole = TextOf(ModelFormatter(source, "<s>", "</s>", "a").Format(conversation).prompt);
  EXPECT_EQ(std::count(own.begin(), own.end(), '<'), std::count(whole.begin(), whole.end(), '<'));
  EXPECT_EQ(std::count(own.begin(), own.end(), '['), std::count(whole.begin(), whole.end(), '['));
}

INSTANTIATE_TEST_SUITE_P(Published, Origin, testing::ValuesIn(PublishedTemplates()),
                         [](const testing::TestParamInfo<std::filesystem::path>& test) {
                           std::string name = test.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
                           return name;
                         });

TEST(LegacyFormatter, ABuiltInTemplateIsFoundByTheLookOfTheModels) {
  Conversation conversation = Asked("  Hi  ");
  const FormattedPrompt prompt = LegacyFormatter(kChatMl, "a.gguf").Format(conversation);
  EXPECT_EQ(TextOf(prompt.prompt), "<|im_start|>user\n  Hi  <|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt.generation_prompt, "<|im_start|>assistant\n");
  EXPECT_EQ(prompt.formatter, "legacy-template");
}

TEST(LegacyFormatter, WhereNoneMatchesAndWhatNoneCanExpressIsRefused) {
  const auto refusal = [](const std::string& source, const Conversation& conversation) -> std::string {
    try {
      LegacyFormatter(source, "a.gguf").Format(conversation);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotSupported);
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_THAT(refusal("{{ messages[0].content }}", Asked("Hi")), HasSubstr("no built-in template"));
  EXPECT_THAT(refusal(kChatMl, Asked("Hi", true)), HasSubstr("tools"));
  Conversation conversation = Asked("Hi");
  conversation.messages[0].role = "narrator";
  EXPECT_THAT(refusal(kChatMl, conversation), HasSubstr("'narrator'"));
}

}  // namespace
}  // namespace owml::text::test
