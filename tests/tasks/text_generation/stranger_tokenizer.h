// A tokenizer as an application might write it: 0 ends a text, 1 to 26 are letters, 27 and 28 the two halves of a
// character. Used where a test must know every token.
#pragma once

#include <WinMLTokenizer.h>
#include <objbase.h>

#include <atomic>
#include <cwchar>
#include <string>
#include <vector>

#include "com/com_ptr.h"

namespace owml::test {

inline constexpr UINT32 kEnd = 0;
inline constexpr UINT32 kFirstHalf = 27;
inline constexpr UINT32 kSecondHalf = 28;
inline constexpr UINT32 kStrangerVocabulary = 29;

inline std::wstring LettersOf(const std::vector<UINT32>& tokens) {
  std::wstring text;
  bool half = false;
  for (const UINT32 token : tokens) {
    if (token >= 1 && token <= 26) text += static_cast<wchar_t>(L'a' + token - 1);
    if (token == kSecondHalf) text += L'\u00e9';
    half = token == kFirstHalf;
  }
  return half ? text + L'\uFFFD' : text;
}

class StrangerTokenizer : public IWinMLTokenizer, public IWinMLTokenizerMetadata {
 public:
  virtual ~StrangerTokenizer() = default;

  bool has_metadata = true;
  HRESULT encode_result = S_OK;
  HRESULT decoder_result = S_OK;
  HRESULT decode_token_result = S_OK;
  bool forgets_array = false;    // a count without an array
  bool forgets_decoder = false;  // success without a decoder
  bool null_fragments = false;   // no character completed gives null
  WINML_TOKENIZER_ENCODE_FLAGS last_flags = WINML_TOKENIZER_ENCODE_FLAG_NONE;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    *object = nullptr;
    if (iid == __uuidof(IUnknown) || iid == __uuidof(IWinMLTokenizer)) *object = static_cast<IWinMLTokenizer*>(this);
    if (iid == __uuidof(IWinMLTokenizerMetadata) && has_metadata) *object = static_cast<IWinMLTokenizerMetadata*>(this);
    if (!*object) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE Encode(LPCWSTR text, WINML_TOKENIZER_ENCODE_FLAGS flags, UINT32* count,
                                   UINT32** ids) override {
    last_flags = flags;
    *count = 0;
    *ids = nullptr;
    if (FAILED(encode_result)) return encode_result;
    const size_t length = std::wcslen(text);
    *count = static_cast<UINT32>(length);
    if (forgets_array || length == 0) return S_OK;
    *ids = static_cast<UINT32*>(CoTaskMemAlloc(length * sizeof(UINT32)));
    for (size_t i = 0; i < length; ++i) (*ids)[i] = static_cast<UINT32>(text[i] - L'a' + 1);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Decode(const UINT32* ids, UINT32 count, WINML_TOKENIZER_DECODE_FLAGS,
                                   LPWSTR* text) override {
    const std::wstring letters = LettersOf(std::vector<UINT32>(ids, ids + count));
    *text = static_cast<LPWSTR>(CoTaskMemAlloc((letters.size() + 1) * sizeof(WCHAR)));
    std::wcscpy(*text, letters.c_str());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateDecoder(IWinMLTokenizerDecoder** decoder) override {
    *decoder = nullptr;
    if (SUCCEEDED(decoder_result) && !forgets_decoder) *decoder = new Decoder(this);
    return decoder_result;
  }

  HRESULT STDMETHODCALLTYPE GetBosTokenId(UINT32* token) override {
    *token = 0;
    return S_FALSE;
  }
  HRESULT STDMETHODCALLTYPE GetEosTokenIds(UINT32* count, UINT32** ids) override {
    *count = 1;
    *ids = static_cast<UINT32*>(CoTaskMemAlloc(sizeof(UINT32)));
    **ids = kEnd;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE FindTokenId(LPCWSTR, UINT32* token) override {
    *token = 0;
    return S_FALSE;
  }

 private:
  class Decoder final : public IWinMLTokenizerDecoder {
   public:
    explicit Decoder(StrangerTokenizer* tokenizer) : tokenizer_(tokenizer) {}
    virtual ~Decoder() = default;
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
      *object = nullptr;
      return E_NOINTERFACE;
    }
    ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
    ULONG STDMETHODCALLTYPE Release() override {
      const ULONG left = --references_;
      if (left == 0) delete this;
      return left;
    }
    HRESULT STDMETHODCALLTYPE DecodeToken(UINT32 token, LPCWSTR* text) override {
      *text = nullptr;
      if (FAILED(tokenizer_->decode_token_result)) return tokenizer_->decode_token_result;
      fragment_ = token == kFirstHalf ? L"" : LettersOf({token});
      if (!fragment_.empty() || !tokenizer_->null_fragments) *text = fragment_.c_str();
      return S_OK;
    }
    HRESULT STDMETHODCALLTYPE Reset() override { return S_OK; }

   private:
    const ComPtr<StrangerTokenizer> tokenizer_;
    std::wstring fragment_;
    std::atomic<ULONG> references_{1};
  };

  std::atomic<ULONG> references_{1};
};

}  // namespace owml::test
