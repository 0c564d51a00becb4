// Getters of a formatted conversation. The plain formatter asks for no stops, constraints or preserved tokens.
// Called by chat tasks and by applications that format themselves.
#include "conversation/format_result.h"

#include "com/co_task_array.h"
#include "com/guard.h"
#include "com/wide.h"
#include "conversation/content_parser.h"

namespace owml {
namespace {

// Goes up when the same template would give other tokens.
constexpr UINT32 kImplementationVersion = 1;

[[noreturn]] void OutOfBounds(UINT32 index, const char* what) {
  throw Error(E_BOUNDS, std::string("there are no ") + what + ", so there is none at " + std::to_string(index));
}

}  // namespace

FormatResult::FormatResult(FormattedConversation formatted, ComPtr<IWinMLTokenizer> tokenizer)
    : token_ids_(std::move(formatted.token_ids)),
      generation_prompt_added_(formatted.generation_prompt_added),
      generation_prompt_(ToWide(formatted.generation_prompt)),
      identity_(ToWide(formatted.identity)),
      tokenizer_(std::move(tokenizer)) {}

HRESULT FormatResult::GetTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept {
  return Guard("IWinMLConversationFormatResult::GetTokenIds", [&] {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    *tokenIds = CoTaskArray(std::span<const UINT32>(token_ids_));
    *tokenCount = static_cast<UINT32>(token_ids_.size());
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
    *added = generation_prompt_added_ ? TRUE : FALSE;
    *continuation = WINML_CONVERSATION_CONTINUATION_NONE;
  });
}

HRESULT FormatResult::GetAdditionalStopCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetAdditionalStopCount", [&] { RequireOut(count, "count"); });
}

HRESULT FormatResult::GetAdditionalStop(UINT32 index, LPCWSTR* stop) noexcept {
  return Guard("IWinMLConversationFormatResult::GetAdditionalStop", [&] {
    RequireOut(stop, "stop");
    OutOfBounds(index, "additional stops");
  });
}

HRESULT FormatResult::GetParserCapabilities(WINML_CONVERSATION_PARSER_CAPABILITIES* capabilities) noexcept {
  return Guard("IWinMLConversationFormatResult::GetParserCapabilities", [&] {
    RequireOut(capabilities, "capabilities");
    *capabilities = WINML_CONVERSATION_PARSER_CAPABILITY_CONTENT;
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
  });
}

HRESULT FormatResult::GetConstraintTriggerCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetConstraintTriggerCount", [&] { RequireOut(count, "count"); });
}

HRESULT FormatResult::GetConstraintTrigger(UINT32 index, WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE* type,
                                           BOOL* hasTokenId, UINT32* tokenId, LPCWSTR* value) noexcept {
  return Guard("IWinMLConversationFormatResult::GetConstraintTrigger", [&] {
    RequireOut(type, "type");
    RequireOut(hasTokenId, "hasTokenId");
    RequireOut(tokenId, "tokenId");
    RequireOut(value, "value");
    OutOfBounds(index, "constraint triggers");
  });
}

HRESULT FormatResult::GetPreservedTokenCount(UINT32* count) noexcept {
  return Guard("IWinMLConversationFormatResult::GetPreservedTokenCount", [&] { RequireOut(count, "count"); });
}

HRESULT FormatResult::GetPreservedToken(UINT32 index, BOOL* hasTokenId, UINT32* tokenId, LPCWSTR* text) noexcept {
  return Guard("IWinMLConversationFormatResult::GetPreservedToken", [&] {
    RequireOut(hasTokenId, "hasTokenId");
    RequireOut(tokenId, "tokenId");
    RequireOut(text, "text");
    OutOfBounds(index, "preserved tokens");
  });
}

HRESULT FormatResult::CreateOutputParser(IWinMLConversationOutputParser** parser) noexcept {
  return Guard("IWinMLConversationFormatResult::CreateOutputParser", [&] {
    RequireOut(parser, "parser");
    *parser = Make<ContentParser>().Detach();
  });
}

HRESULT FormatResult::GetTokenizer(IWinMLTokenizer** tokenizer) noexcept {
  return Guard("IWinMLConversationFormatResultTokenizerIdentity::GetTokenizer", [&] {
    RequireOut(tokenizer, "tokenizer");
    *tokenizer = AddedRef(tokenizer_.Get());
  });
}

}  // namespace owml
