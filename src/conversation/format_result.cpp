// Getters of a formatted conversation; wide strings are made once, since callers borrow them.
// Called by chat tasks and by applications that format themselves.
#include "conversation/format_result.h"

#include "com/co_task_array.h"
#include "com/guard.h"
#include "com/wide.h"
#include "conversation/reply_output_parser.h"

namespace owml {
namespace {

// Goes up when the same template would give other tokens.
constexpr UINT32 kImplementationVersion = 2;

void RequireIndex(UINT32 index, size_t count, const char* what) {
  Require(index < count, E_BOUNDS,
          "there are " + std::to_string(count) + " " + what + ", so there is none at " + std::to_string(index));
}

template <typename Items, typename TextOf>
std::vector<std::wstring> WideTexts(const Items& items, TextOf text_of) {
  std::vector<std::wstring> texts;
  for (const auto& item : items) texts.push_back(ToWide(text_of(item)));
  return texts;
}

WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE TypeOf(text::ConstraintTrigger::Kind kind) {
  switch (kind) {
    case text::ConstraintTrigger::Kind::kToken:
      return WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TOKEN;
    case text::ConstraintTrigger::Kind::kText:
      return WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TEXT;
    case text::ConstraintTrigger::Kind::kPattern:
      return WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_PATTERN;
    case text::ConstraintTrigger::Kind::kFullPattern:
      break;
  }
  return WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_FULL_PATTERN;
}

std::vector<text::ConstraintTrigger> TriggersOf(const FormattedConversation& formatted) {
  return formatted.constraint ? formatted.constraint->triggers : std::vector<text::ConstraintTrigger>();
}

}  // namespace

FormatResult::FormatResult(FormattedConversation formatted, ComPtr<IWinMLTokenizer> tokenizer)
    : formatted_(std::move(formatted)),
      generation_prompt_(ToWide(formatted_.generation_prompt)),
      identity_(ToWide(formatted_.identity)),
      additional_stops_(WideTexts(formatted_.additional_stops, [](const std::string& stop) { return stop; })),
      constraint_syntax_(formatted_.constraint ? ToWide(formatted_.constraint->syntax) : std::wstring()),
      constraint_value_(formatted_.constraint ? ToWide(formatted_.constraint->value) : std::wstring()),
      trigger_values_(WideTexts(TriggersOf(formatted_), [](const auto& trigger) { return trigger.value; })),
      preserved_texts_(WideTexts(formatted_.preserved_tokens, [](const auto& token) { return token.text; })),
      tokenizer_(std::move(tokenizer)) {}

HRESULT FormatResult::GetTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept {
  return Guard("IWinMLConversationFormatResult::GetTokenIds", [&] {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    *tokenIds = CoTaskArray(std::span<const UINT32>(formatted_.token_ids));
    *tokenCount = static_cast<UINT32>(formatted_.token_ids.size());
  });
}

HRESULT FormatResult::GetImplementationIdentity(LPCWSTR* identity, UINT32* version) noexcept {
  return Guard("IWinMLConversationFormatResult::GetImplementationIdentity", [&] {
    RequireOut(identity, "identity");
    RequireOut(version, "version");
    *identity = identity_.c_str();
    *version = kImplementationVersion;
  });
}

HRESULT FormatResult::GetGenerationPrompt(LPCWSTR* text) noexcept {
  return Guard("IWinMLConversationFormatResult::GetGenerationPrompt", [&] {
    RequireOut(text, "text");
    *text = generation_prompt_.c_str();
  });
}

HRESULT FormatResult::GetGenerationPromptMetadata(BOOL* added, WINML_CONVERSATION_CONTINUATION* continuation) noexcept {
  return Guard("IWinMLConversationFormatResult::GetGenerationPromptMetadata", [&] {
    RequireOut(added, "added");
    RequireOut(continuation, "continuation");
    *added = formatted_.generation_prompt_added ? TRUE : FALSE;
    *continuation = static_cast<WINML_CONVERSATION_CONTINUATION>(formatted_.continuation);
  });
}

HRESULT FormatResult::GetAdditionalStopCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetAdditionalStopCount", [&] {
    RequireOut(count, "count");
    *count = static_cast<UINT32>(additional_stops_.size());
  });
}

HRESULT FormatResult::GetAdditionalStop(UINT32 index, LPCWSTR* stop) noexcept {
  return Guard("IWinMLConversationFormatResult::GetAdditionalStop", [&] {
    RequireOut(stop, "stop");
    RequireIndex(index, additional_stops_.size(), "additional stops");
    *stop = additional_stops_[index].c_str();
  });
}

HRESULT FormatResult::GetParserCapabilities(WINML_CONVERSATION_PARSER_CAPABILITIES* capabilities) noexcept {
  return Guard("IWinMLConversationFormatResult::GetParserCapabilities", [&] {
    RequireOut(capabilities, "capabilities");
    const text::ReplySyntax& syntax = *formatted_.syntax;
    int flags = WINML_CONVERSATION_PARSER_CAPABILITY_CONTENT;
    if (syntax.separates_reasoning()) flags |= WINML_CONVERSATION_PARSER_CAPABILITY_REASONING;
    if (syntax.separates_tool_calls()) flags |= WINML_CONVERSATION_PARSER_CAPABILITY_TOOL_CALLS;
    if (syntax.separates_parallel_calls()) flags |= WINML_CONVERSATION_PARSER_CAPABILITY_PARALLEL_TOOL_CALLS;
    *capabilities = static_cast<WINML_CONVERSATION_PARSER_CAPABILITIES>(flags);
  });
}

HRESULT FormatResult::GetConstraint(WINML_CONVERSATION_CONSTRAINT_PRESENCE* presence, LPCWSTR* syntax,
                                    UINT32* syntaxVersion, BOOL* lazy, LPCWSTR* value) noexcept {
  return Guard("IWinMLConversationFormatResult::GetConstraint", [&] {
    RequireOut(presence, "presence");
    RequireOut(syntax, "syntax");
    RequireOut(syntaxVersion, "syntaxVersion");
    RequireOut(lazy, "lazy");
    RequireOut(value, "value");
    *presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    if (!formatted_.constraint) return;
    *presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT;
    *syntax = constraint_syntax_.c_str();
    *syntaxVersion = formatted_.constraint->syntax_version;
    *lazy = formatted_.constraint->lazy ? TRUE : FALSE;
    *value = constraint_value_.c_str();
  });
}

HRESULT FormatResult::GetConstraintTriggerCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetConstraintTriggerCount", [&] {
    RequireOut(count, "count");
    *count = static_cast<UINT32>(trigger_values_.size());
  });
}

HRESULT FormatResult::GetConstraintTrigger(UINT32 index, WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE* type,
                                           BOOL* hasTokenId, UINT32* tokenId, LPCWSTR* value) noexcept {
  return Guard("IWinMLConversationFormatResult::GetConstraintTrigger", [&] {
    RequireOut(type, "type");
    RequireOut(hasTokenId, "hasTokenId");
    RequireOut(tokenId, "tokenId");
    RequireOut(value, "value");
    RequireIndex(index, trigger_values_.size(), "constraint triggers");
    const text::ConstraintTrigger& trigger = formatted_.constraint->triggers[index];
    *type = TypeOf(trigger.kind);
    *hasTokenId = trigger.token_id ? TRUE : FALSE;
    *tokenId = trigger.token_id.value_or(0);
    *value = trigger_values_[index].c_str();
  });
}

HRESULT FormatResult::GetPreservedTokenCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetPreservedTokenCount", [&] {
    RequireOut(count, "count");
    *count = static_cast<UINT32>(preserved_texts_.size());
  });
}

HRESULT FormatResult::GetPreservedToken(UINT32 index, BOOL* hasTokenId, UINT32* tokenId, LPCWSTR* text) noexcept {
  return Guard("IWinMLConversationFormatResult::GetPreservedToken", [&] {
    RequireOut(hasTokenId, "hasTokenId");
    RequireOut(tokenId, "tokenId");
    RequireOut(text, "text");
    RequireIndex(index, preserved_texts_.size(), "preserved tokens");
    const text::PreservedToken& token = formatted_.preserved_tokens[index];
    *hasTokenId = token.token_id ? TRUE : FALSE;
    *tokenId = token.token_id.value_or(0);
    *text = preserved_texts_[index].c_str();
  });
}

HRESULT FormatResult::CreateOutputParser(IWinMLConversationOutputParser** parser) noexcept {
  return Guard("IWinMLConversationFormatResult::CreateOutputParser", [&] {
    RequireOut(parser, "parser");
    *parser = Make<ReplyOutputParser>(formatted_.syntax).Detach();
  });
}

HRESULT FormatResult::GetTokenizer(IWinMLTokenizer** tokenizer) noexcept {
  return Guard("IWinMLConversationFormatResultTokenizerIdentity::GetTokenizer", [&] {
    RequireOut(tokenizer, "tokenizer");
    *tokenizer = AddedRef(tokenizer_.Get());
  });
}

}  // namespace owml
