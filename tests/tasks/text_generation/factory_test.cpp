// Making options, configurations and tasks: what is checked at the door.
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextGenerationFactory : public TextGenerationTest {
 protected:
  Tokens EosOf(IWinMLTextGenerationTask* made) {
    UINT32 count = 77;
    UINT32* ids = nullptr;
    EXPECT_EQ(made->GetDefaultEosTokenIds(&count, &ids), S_OK);
    return Taken(count, ids);
  }
};

TEST_F(TextGenerationFactory, SharesItsIdentityWithTheEntryObject) {
  ComPtr<IUnknown> of_tasks, of_factory;
  ASSERT_EQ(tasks.As(&of_tasks), S_OK);
  ASSERT_EQ(factory.As(&of_factory), S_OK);
  EXPECT_EQ(of_tasks.Get(), of_factory.Get());
}

TEST_F(TextGenerationFactory, TheTokenizerDefaultTakesItsEndTokens) {
  const auto made = NewTask(tokenizer.Get());
  EXPECT_THAT(EosOf(made.Get()), ElementsAre(kEnd));
  ComPtr<IWinMLTokenizer> told;
  ASSERT_EQ(made->GetTokenizer(told.GetAddressOf()), S_OK);
  EXPECT_TRUE(SameObject(told.Get(), static_cast<IWinMLTokenizer*>(tokenizer.Get())));
}

TEST_F(TextGenerationFactory, AnExplicitListIsCopiedAndMayBeEmpty) {
  Tokens ends = {4, 9};
  ComPtr<IWinMLTextGenerationTask> made;
  ASSERT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 2,
                                              ends.data(), made.GetAddressOf()),
            S_OK);
  ends = {0, 0};
  EXPECT_THAT(EosOf(made.Get()), ElementsAre(4, 9));
  ASSERT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                              made.ReleaseAndGetAddressOf()),
            S_OK);
  EXPECT_THAT(EosOf(made.Get()), ElementsAre());
}

TEST_F(TextGenerationFactory, RefusesBadPolicies) {
  const Tokens ends = {4};
  ComPtr<IWinMLTextGenerationTask> made;
  const auto create = [&](int policy, UINT32 count, const UINT32* ids) {
    return factory->CreateTextGenerationTask(tokenizer.Get(), static_cast<WINML_TEXT_GENERATION_EOS_POLICY>(policy),
                                             count, ids, made.ReleaseAndGetAddressOf());
  };
  EXPECT_EQ(create(WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, 1, ends.data()), E_INVALIDARG);
  EXPECT_EQ(create(WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, 0, ends.data()), E_INVALIDARG);
  EXPECT_EQ(create(2, 0, nullptr), E_INVALIDARG);
  EXPECT_EQ(create(-1, 0, nullptr), E_INVALIDARG);
  EXPECT_EQ(create(WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 1, nullptr), E_POINTER);
  EXPECT_EQ(made, nullptr);
}

TEST_F(TextGenerationFactory, ATokenizerWithoutMetadataNeedsAnExplicitList) {
  tokenizer->has_metadata = false;
  ComPtr<IWinMLTextGenerationTask> made;
  EXPECT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, 0,
                                              nullptr, made.GetAddressOf()),
            E_NOINTERFACE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("EXPLICIT"));
  EXPECT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                              made.GetAddressOf()),
            S_OK);
}

TEST_F(TextGenerationFactory, RefusesNullPointers) {
  EXPECT_EQ(factory->CreateTextGenerationConfiguration(nullptr), E_POINTER);
  const WINML_TEXT_GENERATION_OPTIONS values = Values(1);
  ComPtr<IWinMLTextGenerationOptions> options;
  EXPECT_EQ(factory->CreateTextGenerationOptions(nullptr, 0, nullptr, options.GetAddressOf()), E_POINTER);
  EXPECT_EQ(factory->CreateTextGenerationOptions(&values, 0, nullptr, nullptr), E_POINTER);
  EXPECT_EQ(factory->CreateTextGenerationOptions(&values, 1, nullptr, options.GetAddressOf()), E_POINTER);
  ComPtr<IWinMLTextGenerationTask> made;
  EXPECT_EQ(factory->CreateTextGenerationTask(nullptr, WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                              made.GetAddressOf()),
            E_POINTER);
  EXPECT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                              nullptr),
            E_POINTER);
}

}  // namespace
}  // namespace owml::test
