// Small helpers around the tokenizer objects.
// Used by the tests of this folder.
#pragma once

#include <WinMLConversation.h>
#include <WinMLTokenizer.h>
#include <gtest/gtest.h>
#include <objbase.h>

#include <string>
#include <vector>

#include "com/com_ptr.h"
#include "com/wide.h"
#include "conversation/tokenizer_factory.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {

inline std::vector<UINT32> Taken(UINT32 count, UINT32* ids) {
  std::vector<UINT32> result(ids, ids + count);
  CoTaskMemFree(ids);
  return result;
}

inline std::vector<UINT32> Encoded(IWinMLTokenizer* tokenizer, const std::string& text,
                                   WINML_TOKENIZER_ENCODE_FLAGS flags = WINML_TOKENIZER_ENCODE_FLAG_NONE) {
  UINT32 count = 0;
  UINT32* ids = nullptr;
  EXPECT_EQ(tokenizer->Encode(ToWide(text).c_str(), flags, &count, &ids), S_OK);
  EXPECT_EQ(ids == nullptr, count == 0);
  return Taken(count, ids);
}

inline std::string Decoded(IWinMLTokenizer* tokenizer, const std::vector<UINT32>& ids,
                           WINML_TOKENIZER_DECODE_FLAGS flags = WINML_TOKENIZER_DECODE_FLAG_NONE) {
  LPWSTR text = nullptr;
  EXPECT_EQ(tokenizer->Decode(ids.data(), static_cast<UINT32>(ids.size()), flags, &text), S_OK);
  if (!text) return {};
  const std::string result = ToUtf8(text);
  CoTaskMemFree(text);
  return result;
}

// Fragment by fragment through one decoder.
inline std::vector<std::string> Fragments(IWinMLTokenizer* tokenizer, const std::vector<UINT32>& ids) {
  ComPtr<IWinMLTokenizerDecoder> decoder;
  EXPECT_EQ(tokenizer->CreateDecoder(decoder.GetAddressOf()), S_OK);
  std::vector<std::string> fragments;
  for (const UINT32 id : ids) {
    LPCWSTR text = nullptr;
    EXPECT_EQ(decoder->DecodeToken(id, &text), S_OK);
    EXPECT_NE(text, nullptr);
    fragments.push_back(text ? ToUtf8(text) : "");
  }
  return fragments;
}

inline std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

// A template in the style of ChatML, over tokens that a tiny vocabulary gets for it.
inline constexpr char kChatMl[] =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
    "'\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
inline constexpr UINT32 kImStart = kTinyVocabulary;
inline constexpr UINT32 kImEnd = kTinyVocabulary + 1;

// The tiny vocabulary plus <|im_start|>, <|im_end|> (the end token) and a space, which such vocabularies write as
// U+2581; no weights.
inline GgufWriter TinyChatVocabulary(const std::string& chat_template = kChatMl) {
  GgufWriter file = TinyLlamaMetadata();
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
    types.push_back(6);
  }
  tokens.insert(tokens.end(), {"<|im_start|>", "<|im_end|>", "\u2581"});
  types.insert(types.end(), {3, 3, 1});
  file.Add("tokenizer.ggml.tokens", tokens).Add("tokenizer.ggml.token_type", types);
  file.Add("tokenizer.ggml.scores", std::vector<float>(tokens.size(), 0.0f));
  file.Add("tokenizer.ggml.eos_token_id", kImEnd).Add("tokenizer.ggml.add_space_prefix", false);
  if (!chat_template.empty()) file.Add("tokenizer.chat_template", chat_template);
  return file;
}

class TinyTokenizerTest : public testing::Test {
 protected:
  ComPtr<IWinMLTokenizer> Open(const GgufWriter& file) const {
    return CreateTokenizerFromFile(folder_.Write("tokenizer.gguf", file.Bytes()));
  }

  TemporaryFolder folder_;
};

}  // namespace owml::test
