// Text to tokens and back for applications, special tokens, and the way to the formatter.
// Reached through IWinMLTokenizer and what it answers to QueryInterface.
#include "conversation/tokenizer.h"

#include <string>

#include "com/co_task_array.h"
#include "com/guard.h"
#include "com/wide.h"
#include "conversation/format_result.h"
#include "conversation/tokenizer_decoder.h"

namespace owml {
namespace {

constexpr int kEncodeMask = WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS;
constexpr int kDecodeMask = WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS;

void RequireMask(int flags, int mask) {
  Require((flags & ~mask) == 0, E_INVALIDARG,
          "the flags " + std::to_string(flags) + " are outside the mask " + std::to_string(mask));
}

// Both at once, so that nobody sees a count without an array.
void HandOut(const std::vector<uint32_t>& ids, UINT32* count, UINT32** array) {
  Require(ids.size() <= UINT32_MAX, HRESULT_FROM_WIN32(ERROR_ARITHMETIC_OVERFLOW),
          "too many tokens for a 32-bit count");
  *array = CoTaskArray(std::span<const UINT32>(ids));
  *count = static_cast<UINT32>(ids.size());
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)), constraints_(vocabulary_->shared_tokenizer()) {
  if (!vocabulary_->chat_template().empty()) formatter_.emplace(vocabulary_);
}

bool Tokenizer::OffersInterface(REFIID iid) const noexcept {
  if (formatter_) return true;
  return !IsEqualGUID(iid, __uuidof(IWinMLConversationFormatter)) &&
         !IsEqualGUID(iid, __uuidof(IWinMLStructuredConversationFormatter));
}

HRESULT Tokenizer::Encode(LPCWSTR text, WINML_TOKENIZER_ENCODE_FLAGS flags, UINT32* tokenCount,
                          UINT32** tokenIds) noexcept {
  return Guard("IWinMLTokenizer::Encode", [&] {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    RequirePointer(text, "text");
    RequireMask(flags, kEncodeMask);
    // Spec-open: the text of a added token is that token here, as in Hugging Face's tokenizers. Conversations go
    // through the formatters, where what a user types is only text.
    text::EncodeOptions options;
    options.add_special_tokens = (flags & WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS) != 0;
    HandOut(vocabulary_->tokenizer().Encode(ToUtf8(text), options), tokenCount, tokenIds);
  });
}

HRESULT Tokenizer::Decode(const UINT32* tokenIds, UINT32 tokenCount, WINML_TOKENIZER_DECODE_FLAGS flags,
                          LPWSTR* text) noexcept {
  return Guard("IWinMLTokenizer::Decode", [&] {
    RequireOut(text, "text");
    if (tokenCount > 0) RequirePointer(tokenIds, "tokenIds");  // Spec-open: no tokens need no array
    RequireMask(flags, kDecodeMask);
    const bool skip_special = (flags & WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS) != 0;
    *text = CoTaskWide(ToWide(vocabulary_->tokenizer().Decode({tokenIds, tokenCount}, skip_special)));
  });
}

HRESULT Tokenizer::CreateDecoder(IWinMLTokenizerDecoder** decoder) noexcept {
  return Guard("IWinMLTokenizer::CreateDecoder", [&] {
    RequireOut(decoder, "decoder");
    *decoder = Make<TokenizerDecoder>(vocabulary_->shared_tokenizer()).Detach();
  });
}

HRESULT Tokenizer::GetBosTokenId(UINT32* tokenId) noexcept {
  return Guard("IWinMLTokenizerMetadata::GetBosTokenId", [&]() -> HRESULT {
    RequireOut(tokenId, "tokenId");
    if (!vocabulary_->bos()) return S_FALSE;
    *tokenId = *vocabulary_->bos();
    return S_OK;
  });
}

HRESULT Tokenizer::GetEosTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept {
  return Guard("IWinMLTokenizerMetadata::GetEosTokenIds", [&]() -> HRESULT {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    if (vocabulary_->eos().empty()) return S_FALSE;
    HandOut(vocabulary_->eos(), tokenCount, tokenIds);
    return S_OK;
  });
}

HRESULT Tokenizer::FindTokenId(LPCWSTR token, UINT32* tokenId) noexcept {
  return Guard("IWinMLTokenizerMetadata::FindTokenId", [&]() -> HRESULT {
    RequireOut(tokenId, "tokenId");
    RequirePointer(token, "token");
    const auto found = vocabulary_->Find(ToUtf8(token));
    if (!found) return S_FALSE;
    *tokenId = *found;
    return S_OK;
  });
}

HRESULT Tokenizer::EncodeConversation(UINT32 messageCount, const WINML_CHAT_MESSAGE* messages, BOOL addGenerationPrompt,
                                      UINT32* tokenCount, UINT32** tokenIds) noexcept {
  return Guard("IWinMLConversationFormatter::EncodeConversation", [&] {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    RequirePointer(messages, "messages");
    HandOut(formatter_->Encode(messages, messageCount, addGenerationPrompt != 0), tokenCount, tokenIds);
  });
}

HRESULT Tokenizer::FormatConversation(const WINML_CONVERSATION_REQUEST* request,
                                      IWinMLConversationFormatResult** result) noexcept {
  return Guard("IWinMLStructuredConversationFormatter::FormatConversation", [&] {
    RequireOut(result, "result");
    RequirePointer(request, "request");
    *result = Make<FormatResult>(formatter_->Format(*request), ComPtr<IWinMLTokenizer>(this)).Detach();
  });
}

HRESULT Tokenizer::GetVocabularyIdentity(WINML_CONSTRAINT_VOCABULARY_IDENTITY* identity) noexcept {
  return Guard("IWinMLTokenizerConstraintFactory::GetVocabularyIdentity", [&] {
    RequireOut(identity, "identity");
    *identity = constraints_.Identity();
  });
}

HRESULT Tokenizer::GetTokenizer(IWinMLTokenizer** tokenizer) noexcept {
  return Guard("IWinMLTokenizerConstraintFactory::GetTokenizer", [&] {
    RequireOut(tokenizer, "tokenizer");
    *tokenizer = ComPtr<IWinMLTokenizer>(this).Detach();
  });
}

HRESULT Tokenizer::CreateConstraint(IWinMLConversationFormatResult* formatResult,
                                    IWinMLTokenConstraint** constraint) noexcept {
  return Guard("IWinMLTokenizerConstraintFactory::CreateConstraint", [&] {
    RequireOut(constraint, "constraint");
    RequirePointer(formatResult, "formatResult");
    *constraint = constraints_.Create(this, formatResult);
  });
}

}  // namespace owml
