// What formatting a conversation gave; never changes.
// Made by IWinMLStructuredConversationFormatter::FormatConversation.
#pragma once

#include <WinMLConversation.h>

#include <optional>
#include <string>
#include <vector>

#include "com/implements.h"
#include "conversation/conversation_formatter.h"

namespace owml {

class FormatResult final
    : public Implements<FormatResult, IWinMLConversationFormatResult, IWinMLConversationFormatResultTokenizerIdentity> {
 public:
  FormatResult(FormattedConversation formatted, ComPtr<IWinMLTokenizer> tokenizer);

  // IWinMLConversationFormatResult
  HRESULT STDMETHODCALLTYPE GetTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override;
  HRESULT STDMETHODCALLTYPE GetImplementationIdentity(LPCWSTR* identity, UINT32* version) noexcept override;
  HRESULT STDMETHODCALLTYPE GetGenerationPrompt(LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE
  GetGenerationPromptMetadata(BOOL* added, WINML_CONVERSATION_CONTINUATION* continuation) noexcept override;
  HRESULT STDMETHODCALLTYPE GetAdditionalStopCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetAdditionalStop(UINT32 index, LPCWSTR* stop) noexcept override;
  HRESULT STDMETHODCALLTYPE
  GetParserCapabilities(WINML_CONVERSATION_PARSER_CAPABILITIES* capabilities) noexcept override;
  HRESULT STDMETHODCALLTYPE GetConstraint(WINML_CONVERSATION_CONSTRAINT_PRESENCE* presence, LPCWSTR* syntax,
                                          UINT32* syntaxVersion, BOOL* lazy, LPCWSTR* value) noexcept override;
  HRESULT STDMETHODCALLTYPE GetConstraintTriggerCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetConstraintTrigger(UINT32 index, WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE* type,
                                                 BOOL* hasTokenId, UINT32* tokenId, LPCWSTR* value) noexcept override;
  HRESULT STDMETHODCALLTYPE GetPreservedTokenCount(UINT32* count) noexcept override;
  HRESULT STDMETHODCALLTYPE GetPreservedToken(UINT32 index, BOOL* hasTokenId, UINT32* tokenId,
                                              LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateOutputParser(IWinMLConversationOutputParser** parser) noexcept override;

  // IWinMLConversationFormatResultTokenizerIdentity
  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override;

  // For the constraint factory of the same tokenizer.
  const FormattedConversation& formatted() const noexcept { return formatted_; }

 private:
  const FormattedConversation formatted_;
  const std::wstring generation_prompt_;
  const std::wstring identity_;
  const std::vector<std::wstring> additional_stops_;
  const std::wstring constraint_syntax_;
  const std::wstring constraint_value_;
  const std::vector<std::wstring> trigger_values_;
  const std::vector<std::wstring> preserved_texts_;
  const ComPtr<IWinMLTokenizer> tokenizer_;
};

}  // namespace owml
