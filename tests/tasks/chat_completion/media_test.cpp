// Conversations with media: what is checked, and what a session without them answers.
#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

class ChatMedia : public ChatTest {
 protected:
  ChatMedia() {
    parts[0].type = L"text";
    parts[0].text = L"what is this";
    parts[1].type = L"image";
    message.role = L"user";
    message.content = L"q";
    message.contentPartCount = 2;
    message.contentParts = parts;
    request.messageCount = 1;
    request.messages = &message;
    request.addGenerationPrompt = TRUE;
  }

  HRESULT Generate(const std::vector<WINML_CHAT_MEDIA_BINDING>& bindings) {
    ComPtr<IWinMLChatCompletionPullStream> stream;
    return chat->GenerateWithMedia(&request, static_cast<UINT32>(bindings.size()), bindings.data(), nullptr, nullptr,
                                   stream.GetAddressOf());
  }

  // Never called: only kept and handed back.
  class Encoder final : public StrangerObject<Encoder, IWinMLMediaEncoder> {
   public:
    HRESULT STDMETHODCALLTYPE GetMediaTensorDesc(WINML_TENSOR_DESC*) override { return E_NOTIMPL; }
    HRESULT STDMETHODCALLTYPE GetEmbeddingLength(UINT32*) override { return E_NOTIMPL; }
    HRESULT STDMETHODCALLTYPE GetEmbeddingDataType(WINML_TENSOR_DATA_TYPE*) override { return E_NOTIMPL; }
    HRESULT STDMETHODCALLTYPE Encode(IWinMLTensor*, IWinMLTensor**, IWinMLSequenceSegmentLayout**) override {
      return E_NOTIMPL;
    }
  };

  WINML_CONVERSATION_CONTENT_PART parts[2] = {};
  WINML_CONVERSATION_MESSAGE message = {};
  WINML_CONVERSATION_REQUEST request = {};
  IWinMLTensor* const tensor = reinterpret_cast<IWinMLTensor*>(uintptr_t{8});  // only looked at for null
};

TEST_F(ChatMedia, WithoutBindingsIsTheOrdinaryPath) {
  OpenChat();
  Says({8, kEnd});
  ComPtr<IWinMLChatCompletionPullStream> stream;
  ASSERT_EQ(chat->GenerateWithMedia(&request, 0, nullptr, nullptr, nullptr, stream.GetAddressOf()), S_OK);
  EXPECT_EQ(ReadAll(stream.Get()).content, L"h");
}

TEST_F(ChatMedia, BindingsNeedAnEncoder) {
  OpenChat();
  EXPECT_EQ(Generate({{0, 1, tensor}}), E_NOT_VALID_STATE);
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(chat->GenerateWithMedia(&request, 1, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
  EXPECT_EQ(chat->GenerateWithMedia(nullptr, 0, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
}

TEST_F(ChatMedia, NoneSetIsNullWithSuccess) {
  OpenChat();
  auto* encoder = reinterpret_cast<IWinMLMediaEncoder*>(uintptr_t{8});
  EXPECT_EQ(chat->GetMediaEncoder(&encoder), S_OK);
  EXPECT_EQ(encoder, nullptr);
}

TEST_F(ChatMedia, AnEncoderIsKeptUntilItIsCleared) {
  OpenChat();
  ComPtr<Encoder> encoder;
  encoder.Attach(new Encoder);
  ASSERT_EQ(chat->SetMediaEncoder(encoder.Get()), S_OK);
  ComPtr<IWinMLMediaEncoder> its;
  ASSERT_EQ(chat->GetMediaEncoder(its.GetAddressOf()), S_OK);
  EXPECT_EQ(its.Get(), encoder.Get());
  ASSERT_EQ(chat->SetMediaEncoder(nullptr), S_OK);
  ASSERT_EQ(chat->GetMediaEncoder(its.ReleaseAndGetAddressOf()), S_OK);
  EXPECT_EQ(its, nullptr);
}

TEST_F(ChatMedia, BindingsAreCheckedBeforeAnythingElse) {
  OpenChat();
  ComPtr<Encoder> encoder;
  encoder.Attach(new Encoder);
  ASSERT_EQ(chat->SetMediaEncoder(encoder.Get()), S_OK);
  EXPECT_EQ(Generate({{0, 1, nullptr}}), E_POINTER);
  EXPECT_EQ(Generate({{1, 1, tensor}}), E_INVALIDARG) << "no such message";
  EXPECT_EQ(Generate({{0, 2, tensor}}), E_INVALIDARG) << "no such part";
  EXPECT_EQ(Generate({{0, 0, tensor}}), E_INVALIDARG) << "a part that is no image";
  EXPECT_EQ(Generate({{0, 1, tensor}, {0, 1, tensor}}), E_INVALIDARG) << "bound twice";
  parts[1].text = L"a cat";
  EXPECT_EQ(Generate({{0, 1, tensor}}), E_INVALIDARG) << "an image with text";
  parts[1].text = nullptr;
  parts[0] = {L"image", nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(Generate({{0, 1, tensor}}), E_INVALIDARG) << "an image without a binding";
  EXPECT_EQ(Generate({{0, 1, tensor}, {0, 0, tensor}}), kNotSupported) << "well formed, and not built";
  EXPECT_EQ(conduct->formats, 0);
}

}  // namespace
}  // namespace owml::test
