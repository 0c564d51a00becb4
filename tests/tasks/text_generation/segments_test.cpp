// Prompts of segments.
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr auto kTokens = WINML_GENERATION_SEGMENT_KIND_TOKENS;
constexpr auto kEmbeddings = WINML_GENERATION_SEGMENT_KIND_EMBEDDINGS;

class SegmentsTest : public TextGenerationTest {
 protected:
  HRESULT TryStart(const std::vector<WINML_GENERATION_SEGMENT>& segments) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    const HRESULT result = session->GenerateSegments(static_cast<UINT32>(segments.size()), segments.data(), nullptr,
                                                     nullptr, stream.GetAddressOf());
    EXPECT_EQ(stream == nullptr, FAILED(result));
    return result;
  }

  const UINT32 ids_[3] = {5, 6, 7};
  IWinMLTensor* const tensor_ = reinterpret_cast<IWinMLTensor*>(uintptr_t{8});  // only looked at for null
  IWinMLSequenceSegmentLayout* const layout_ = reinterpret_cast<IWinMLSequenceSegmentLayout*>(uintptr_t{8});
};

TEST_F(SegmentsTest, OfTokensAreOnePrompt) {
  Open();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_TRUE(capabilities.supportsSegmentedPrompts);
  const WINML_GENERATION_SEGMENT segments[] = {{kTokens, 2, ids_, nullptr, nullptr},
                                               {kTokens, 1, ids_ + 2, nullptr, nullptr}};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(session->GenerateSegments(2, segments, Options(4).Get(), nullptr, stream.GetAddressOf()), S_OK);
  const Answer answer = ReadAll(stream.Get());
  EXPECT_EQ(answer.tokens, Expected({5, 6, 7}, 4));
  EXPECT_EQ(answer.prompt_tokens, 3u);
}

TEST_F(SegmentsTest, EachMustBeOneFormAndNoMore) {
  Open();
  const std::vector<std::vector<WINML_GENERATION_SEGMENT>> malformed = {
      {},
      {{kTokens, 0, nullptr, nullptr, nullptr}},
      {{kTokens, 2, nullptr, nullptr, nullptr}},
      {{kTokens, 0, ids_, nullptr, nullptr}},
      {{kTokens, 1, ids_, tensor_, nullptr}},
      {{kTokens, 1, ids_, nullptr, layout_}},
      {{kEmbeddings, 0, nullptr, tensor_, nullptr}, {kTokens, 1, ids_, nullptr, nullptr}},
      {{kEmbeddings, 0, nullptr, nullptr, layout_}, {kTokens, 1, ids_, nullptr, nullptr}},
      {{kEmbeddings, 1, ids_, tensor_, layout_}, {kTokens, 1, ids_, nullptr, nullptr}},
      {{static_cast<WINML_GENERATION_SEGMENT_KIND>(2), 1, ids_, nullptr, nullptr}},
      {{kTokens, 1, ids_, nullptr, nullptr}, {kEmbeddings, 0, nullptr, tensor_, layout_}},
  };
  for (const auto& segments : malformed) EXPECT_EQ(TryStart(segments), E_INVALIDARG) << segments.size();
  EXPECT_THAT(model->runs, SizeIs(0));
}

TEST_F(SegmentsTest, OfEmbeddingsAreRefusedAsTheCapabilitiesSay) {
  Open();
  EXPECT_EQ(TryStart({{kEmbeddings, 0, nullptr, tensor_, layout_}, {kTokens, 1, ids_, nullptr, nullptr}}),
            kNotSupported);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("embeddings"));
}

TEST_F(SegmentsTest, ANullArrayIsRefused) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(session->GenerateSegments(1, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
}

}  // namespace
}  // namespace owml::test
