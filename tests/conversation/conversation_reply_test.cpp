// Constraints, modes and replies as applications see them: through the result of a formatted conversation.
#include <gmock/gmock.h>
#include <openwinml/error.h>

#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Tools as JSON in the system's turn, calls between tags.
constexpr const char* kCaller =
    "{%- if tools %}{{ '<|im_start|>system\n' }}{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}"
    "{{ '<|im_end|>\n' }}{%- endif %}{%- for m in messages %}{%- if m.role == 'tool' %}"
    "{{ '<|im_start|>user\n<tool_response>\n' + m.content + '\n</tool_response><|im_end|>\n' }}{%- else %}"
    "{{ '<|im_start|>' + m.role + '\n' + m.content }}{%- for call in m.tool_calls or [] %}"
    "{{ '\n<tool_call>\n{\"name\": \"' + call.function.name + '\", \"arguments\": ' }}"
    "{{ call.function.arguments | tojson }}{{ '}\n</tool_call>' }}{%- endfor %}{{ '<|im_end|>\n' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}";

class ConversationReplyTest : public TinyTokenizerTest {
 protected:
  void SetUp() override {
    tool_.name = L"add";
    tool_.description = L"Adds two numbers.";
    tool_.parametersJson = LR"({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})";
    message_.role = L"user";
    message_.content = L"Hi";
    request_.messageCount = 1;
    request_.messages = &message_;
    request_.addGenerationPrompt = TRUE;
    Use(kCaller);
  }

  void Use(const std::string& chat_template) {
    tokenizer_ = Open(TinyChatVocabulary(chat_template));
    formatter_ = Query<IWinMLStructuredConversationFormatter>(tokenizer_.Get());
  }

  ComPtr<IWinMLConversationFormatResult> Format() {
    ComPtr<IWinMLConversationFormatResult> result;
    EXPECT_EQ(formatter_->FormatConversation(&request_, result.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
    return result;
  }

  std::wstring Identity() {
    LPCWSTR identity = nullptr;
    UINT32 version = 0;
    const auto result = Format();
    EXPECT_EQ(result->GetImplementationIdentity(&identity, &version), S_OK);
    return identity;
  }

  // One line for each event.
  static std::vector<std::string> EventsOf(IWinMLConversationOutputParser* parser) {
    std::vector<std::string> events;
    for (;;) {
      auto status = WINML_CONVERSATION_OUTPUT_READ_STATUS_EVENT;
      ComPtr<IWinMLConversationOutputEvent> event;
      EXPECT_EQ(parser->ReadEvent(&status, event.GetAddressOf()), S_OK);
      if (status == WINML_CONVERSATION_OUTPUT_READ_STATUS_EMPTY) return events;
      auto type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR;
      LPCWSTR text = nullptr, name = nullptr, id = nullptr;
      UINT32 index = 7;
      EXPECT_EQ(event->GetType(&type), S_OK);
      const bool of_call = event->GetToolCallIndex(&index) == S_OK;
      EXPECT_EQ(event->GetToolName(&name) == S_OK, of_call);
      EXPECT_EQ(event->GetCallId(&id) == S_OK, of_call);
      std::wstring line = std::to_wstring(type);
      if (of_call) line += std::wstring(L" ") + std::to_wstring(index) + L" " + name;
      if (event->GetText(&text) == S_OK) line += std::wstring(L" ") + text;
      HRESULT error = S_OK;
      EXPECT_EQ(event->GetError(&error, &text) == S_OK, type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR);
      EXPECT_EQ(FAILED(error), type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_ERROR);
      events.push_back(ToUtf8(line));
    }
  }

  ComPtr<IWinMLTokenizer> tokenizer_;
  ComPtr<IWinMLStructuredConversationFormatter> formatter_;
  WINML_CONVERSATION_TOOL tool_ = {};
  WINML_CONVERSATION_MESSAGE message_ = {};
  WINML_CONVERSATION_REQUEST request_ = {};
};

TEST_F(ConversationReplyTest, ACallComesAsEventsOfOneIndexAndOneId) {
  request_.toolCount = 1;
  request_.tools = &tool_;
  ComPtr<IWinMLConversationOutputParser> parser;
  ASSERT_EQ(Format()->CreateOutputParser(parser.GetAddressOf()), S_OK);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(parser->Append(L"Well.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}"), S_OK);
    ASSERT_EQ(parser->Append(L"\n</tool_call>"), S_OK);
    ASSERT_EQ(parser->Flush(), S_OK);
    const auto events = EventsOf(parser.Get());
    ASSERT_GE(events.size(), 5u);
    EXPECT_THAT(events.front(), HasSubstr("0 Well."));
    EXPECT_THAT(std::vector<std::string>(events.end() - 4, events.end()),
                ElementsAre("2 0 add", "3 0 add {\"a\": 1}", "4 0 add", "5"));
    ASSERT_EQ(parser->Reset(), S_OK);
  }
}

TEST_F(ConversationReplyTest, ABrokenCallIsAnErrorBeforeTheEnd) {
  request_.toolCount = 1;
  request_.tools = &tool_;
  ComPtr<IWinMLConversationOutputParser> parser;
  ASSERT_EQ(Format()->CreateOutputParser(parser.GetAddressOf()), S_OK);
  ASSERT_EQ(parser->Append(L"<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": "), S_OK);
  ASSERT_EQ(parser->Flush(), S_OK);
  const auto events = EventsOf(parser.Get());
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events.back(), "5");
  EXPECT_EQ(std::count(events.begin(), events.end(), "6"), 1);
}

TEST_F(ConversationReplyTest, ToolsOfferALazyConstraintAndARequiredCallABindingOne) {
  request_.toolCount = 1;
  request_.tools = &tool_;
  for (const bool required : {false, true}) {
    request_.toolChoice = required ? WINML_CONVERSATION_TOOL_CHOICE_REQUIRED : WINML_CONVERSATION_TOOL_CHOICE_AUTO;
    const auto result = Format();
    auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    LPCWSTR syntax = nullptr, value = nullptr;
    UINT32 version = 0, triggers = 7;
    BOOL lazy = FALSE;
    ASSERT_EQ(result->GetConstraint(&presence, &syntax, &version, &lazy, &value), S_OK);
    EXPECT_EQ(presence, WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT);
    EXPECT_STREQ(syntax, L"gbnf");
    EXPECT_EQ(version, 1u);
    EXPECT_EQ(lazy, required ? FALSE : TRUE);
    ASSERT_EQ(result->GetConstraintTriggerCount(&triggers), S_OK);
    EXPECT_EQ(triggers > 0, !required);
    auto type = WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TOKEN;
    BOOL has_token = FALSE;
    UINT32 token = 0;
    EXPECT_EQ(result->GetConstraintTrigger(triggers, &type, &has_token, &token, &value), E_BOUNDS);
    auto capabilities = WINML_CONVERSATION_PARSER_CAPABILITY_NONE;
    ASSERT_EQ(result->GetParserCapabilities(&capabilities), S_OK);
    EXPECT_TRUE(capabilities & WINML_CONVERSATION_PARSER_CAPABILITY_TOOL_CALLS);
    // The constraint factory of the same tokenizer takes it.
    const auto factory = Query<IWinMLTokenizerConstraintFactory>(tokenizer_.Get());
    ComPtr<IWinMLTokenConstraint> constraint;
    ASSERT_EQ(factory->CreateConstraint(result.Get(), constraint.GetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
  }
}

TEST_F(ConversationReplyTest, ExtensionsAskForGrammarsAndExpressions) {
  const auto syntax_of = [&] {
    auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    LPCWSTR syntax = nullptr, value = nullptr;
    UINT32 version = 0;
    BOOL lazy = FALSE;
    const auto result = Format();
    EXPECT_EQ(result->GetConstraint(&presence, &syntax, &version, &lazy, &value), S_OK);
    EXPECT_EQ(lazy, FALSE);
    return presence == WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE ? std::string()
                                                                   : ToUtf8(syntax) + " " + ToUtf8(value);
  };
  for (const auto mode :
       {WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT, WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1,
        WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1}) {
    request_.formatterMode = mode;
    request_.extensionsJson = LR"({"openwinml": {"regex": "a+"}})";
    EXPECT_EQ(syntax_of(), "regex a+");
    request_.extensionsJson = LR"({"openwinml": {"grammar": "root ::= \"a\""}})";
    EXPECT_EQ(syntax_of(), "gbnf root ::= \"a\"");
    request_.extensionsJson = nullptr;
    EXPECT_EQ(syntax_of(), "");
  }
  request_.formatterMode = WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1;
  request_.responseFormat = WINML_CONVERSATION_RESPONSE_FORMAT_JSON_OBJECT;
  EXPECT_EQ(syntax_of(), R"(json_schema {"type":"object"})");
}

TEST_F(ConversationReplyTest, TheIdentityTellsModeParserAndTemplate) {
  const std::wstring model = Identity();
  request_.formatterMode = WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1;
  const std::wstring portable = Identity();
  request_.formatterMode = WINML_CONVERSATION_FORMATTER_MODE_LEGACY_TEMPLATE_V1;
  const std::wstring legacy = Identity();
  EXPECT_NE(model, portable);
  EXPECT_NE(portable, legacy);
  EXPECT_NE(model, legacy);
  request_.formatterMode = WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1;
  Use(std::string(kCaller) + "{# <think></think> #}");
  EXPECT_NE(Identity(), portable);
}

TEST_F(ConversationReplyTest, AContinuationIsToldInTheMetadata) {
  WINML_CONVERSATION_MESSAGE messages[2] = {message_, {}};
  messages[1].role = L"assistant";
  messages[1].content = L"Hello, my";
  request_.messageCount = 2;
  request_.messages = messages;
  request_.continuation = WINML_CONVERSATION_CONTINUATION_AUTO;
  for (const auto mode :
       {WINML_CONVERSATION_FORMATTER_MODE_MODEL_DEFAULT, WINML_CONVERSATION_FORMATTER_MODE_PORTABLE_JINJA_V1}) {
    request_.formatterMode = mode;
    const auto result = Format();
    BOOL added = TRUE;
    auto continuation = WINML_CONVERSATION_CONTINUATION_NONE;
    ASSERT_EQ(result->GetGenerationPromptMetadata(&added, &continuation), S_OK);
    EXPECT_EQ(added, FALSE);
    EXPECT_EQ(continuation, WINML_CONVERSATION_CONTINUATION_CONTENT);
    LPCWSTR prompt = nullptr;
    ASSERT_EQ(result->GetGenerationPrompt(&prompt), S_OK);
    EXPECT_STREQ(prompt, L"<|im_start|>assistant\nHello, my");
  }
}

}  // namespace
}  // namespace owml::test
