// The tokenizer object of applications, over any vocabulary.
// Made by tokenizer_factory.cpp.
#pragma once

#include <WinMLConversation.h>
#include <WinMLTokenizer.h>

#include <memory>
#include <optional>

#include "com/implements.h"
#include "conversation/constraint_factory.h"
#include "conversation/conversation_formatter.h"
#include "conversation/vocabulary.h"

namespace owml {

class Tokenizer final
    : public Implements<Tokenizer, IWinMLTokenizer, IWinMLTokenizerMetadata, IWinMLConversationFormatter,
                        IWinMLStructuredConversationFormatter, IWinMLTokenizerConstraintFactory> {
 public:
  explicit Tokenizer(std::shared_ptr<const Vocabulary> vocabulary);

  // The two formatters are there only with a chat template.
  bool OffersInterface(REFIID iid) const noexcept;

  // IWinMLTokenizer
  HRESULT STDMETHODCALLTYPE Encode(LPCWSTR text, WINML_TOKENIZER_ENCODE_FLAGS flags, UINT32* tokenCount,
                                   UINT32** tokenIds) noexcept override;
  HRESULT STDMETHODCALLTYPE Decode(const UINT32* tokenIds, UINT32 tokenCount, WINML_TOKENIZER_DECODE_FLAGS flags,
                                   LPWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateDecoder(IWinMLTokenizerDecoder** decoder) noexcept override;

  // IWinMLTokenizerMetadata
  HRESULT STDMETHODCALLTYPE GetBosTokenId(UINT32* tokenId) noexcept override;
  HRESULT STDMETHODCALLTYPE GetEosTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override;
  HRESULT STDMETHODCALLTYPE FindTokenId(LPCWSTR token, UINT32* tokenId) noexcept override;

  // IWinMLConversationFormatter
  HRESULT STDMETHODCALLTYPE EncodeConversation(UINT32 messageCount, const WINML_CHAT_MESSAGE* messages,
                                               BOOL addGenerationPrompt, UINT32* tokenCount,
                                               UINT32** tokenIds) noexcept override;

  // IWinMLStructuredConversationFormatter
  HRESULT STDMETHODCALLTYPE FormatConversation(const WINML_CONVERSATION_REQUEST* request,
                                               IWinMLConversationFormatResult** result) noexcept override;

  // IWinMLTokenizerConstraintFactory
  HRESULT STDMETHODCALLTYPE GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* identity) noexcept override;
  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateConstraint(IWinMLConversationFormatResult* formatResult,
                                             IWinMLTokenConstraint** constraint) noexcept override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::optional<ConversationFormatter> formatter_;
  ConstraintFactory constraints_;
};

}  // namespace owml
