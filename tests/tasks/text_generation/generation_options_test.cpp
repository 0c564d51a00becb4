#include <cmath>
#include <limits>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class GenerationOptionsTest : public TextGenerationTest {
 protected:
  HRESULT Create(const WINML_TEXT_GENERATION_OPTIONS& values) {
    ComPtr<IWinMLTextGenerationOptions> made;
    const HRESULT result = factory->CreateTextGenerationOptions(&values, 0, nullptr, made.GetAddressOf());
    EXPECT_EQ(made == nullptr, FAILED(result));
    return result;
  }

  // The code for one member set to `value`.
  template <class T>
  HRESULT With(WINML_TEXT_GENERATION_OPTION_FIELDS field, T WINML_TEXT_GENERATION_OPTIONS::*member, T value) {
    WINML_TEXT_GENERATION_OPTIONS values = Values(1);
    values.presentFields |= field;
    values.*member = value;
    return Create(values);
  }
};

TEST_F(GenerationOptionsTest, AbsentMembersResolveToTheirDefaults) {
  WINML_TEXT_GENERATION_OPTIONS values = Values(9);
  values.temperature = kNaN;  // without their bits these do not count
  values.topP = 77;
  values.seed = 5;
  WINML_TEXT_GENERATION_OPTIONS told = {};
  ASSERT_EQ(Options(values)->GetValues(&told), S_OK);
  EXPECT_EQ(told.presentFields, WINML_TEXT_GENERATION_OPTION_FIELD_ALL);
  EXPECT_EQ(told.maxNewTokens, 9u);
  EXPECT_EQ(told.temperature, 0.0f);
  EXPECT_EQ(told.topK, 0u);
  EXPECT_EQ(told.topP, 1.0f);
  EXPECT_EQ(told.minP, 0.0f);
  EXPECT_EQ(told.repetitionPenalty, 1.0f);
  EXPECT_EQ(told.repetitionPenaltyWindow, 0u);
  EXPECT_EQ(told.presencePenalty, 0.0f);
  EXPECT_EQ(told.frequencyPenalty, 0.0f);
  EXPECT_EQ(told.seed, 0u);
}

TEST_F(GenerationOptionsTest, PresentMembersAreKept) {
  WINML_TEXT_GENERATION_OPTIONS values = {
      WINML_TEXT_GENERATION_OPTION_FIELD_ALL, 3, 0.5f, 40, 0.9f, 0.05f, 1.1f, 64, -0.5f, 0.25f, 0xfedcba9876543210u};
  WINML_TEXT_GENERATION_OPTIONS told = {};
  Tokens stops = {4, 7};
  const auto options = Options(values, stops);
  values = {};
  stops = {0, 0};
  ASSERT_EQ(options->GetValues(&told), S_OK);
  EXPECT_EQ(told.temperature, 0.5f);
  EXPECT_EQ(told.topK, 40u);
  EXPECT_EQ(told.topP, 0.9f);
  EXPECT_EQ(told.minP, 0.05f);
  EXPECT_EQ(told.repetitionPenalty, 1.1f);
  EXPECT_EQ(told.repetitionPenaltyWindow, 64u);
  EXPECT_EQ(told.presencePenalty, -0.5f);
  EXPECT_EQ(told.frequencyPenalty, 0.25f);
  EXPECT_EQ(told.seed, 0xfedcba9876543210u);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(options->GetStopTokenIds(&count, &ids), S_OK);
  EXPECT_THAT(Taken(count, ids), ElementsAre(4, 7));
}

TEST_F(GenerationOptionsTest, NoStopTokensAreANullArray) {
  UINT32 count = 77;
  UINT32* ids = &count;
  ASSERT_EQ(Options(1)->GetStopTokenIds(&count, &ids), S_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(ids, nullptr);
}

TEST_F(GenerationOptionsTest, ATokenLimitIsRequired) {
  WINML_TEXT_GENERATION_OPTIONS values = Values(0);
  EXPECT_EQ(Create(values), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("maxNewTokens"));
  values = Values(5);
  values.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE;
  EXPECT_EQ(Create(values), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("MAX_NEW_TOKENS"));
}

TEST_F(GenerationOptionsTest, UnknownPresenceBitsAreRefused) {
  for (const int bit : {0x400, 0x10000, static_cast<int>(0x80000000u)}) {
    WINML_TEXT_GENERATION_OPTIONS values = Values(1);
    values.presentFields = static_cast<WINML_TEXT_GENERATION_OPTION_FIELDS>(values.presentFields | bit);
    EXPECT_EQ(Create(values), E_INVALIDARG) << bit;
    EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("presentFields"));
  }
}

TEST_F(GenerationOptionsTest, TemperatureIsFiniteAndNotNegative) {
  const auto temperature = [&](float value) {
    return With(WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE, &WINML_TEXT_GENERATION_OPTIONS::temperature, value);
  };
  for (const float value : {0.0f, -0.0f, 1e-30f, 100.0f}) EXPECT_EQ(temperature(value), S_OK) << value;
  for (const float value : {kNaN, kInfinity, -kInfinity, -0.1f}) {
    EXPECT_EQ(temperature(value), E_INVALIDARG) << value;
    EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("temperature"));
  }
  temperature(-2.5f);
  EXPECT_THAT(openwinml::LastErrorMessage(), AllOf(HasSubstr("temperature"), HasSubstr("-2.5")));
}

TEST_F(GenerationOptionsTest, TopPIsAboveZeroAndAtMostOne) {
  const auto top_p = [&](float value) {
    return With(WINML_TEXT_GENERATION_OPTION_FIELD_TOP_P, &WINML_TEXT_GENERATION_OPTIONS::topP, value);
  };
  for (const float value : {1.0f, 0.5f, 1e-30f}) EXPECT_EQ(top_p(value), S_OK) << value;
  for (const float value : {0.0f, 1.001f, -0.5f, kNaN, kInfinity}) EXPECT_EQ(top_p(value), E_INVALIDARG) << value;
}

TEST_F(GenerationOptionsTest, MinPIsBetweenZeroAndOne) {
  const auto min_p = [&](float value) {
    return With(WINML_TEXT_GENERATION_OPTION_FIELD_MIN_P, &WINML_TEXT_GENERATION_OPTIONS::minP, value);
  };
  for (const float value : {0.0f, 0.5f, 1.0f}) EXPECT_EQ(min_p(value), S_OK) << value;
  for (const float value : {1.001f, -0.5f, kNaN, kInfinity}) EXPECT_EQ(min_p(value), E_INVALIDARG) << value;
}

TEST_F(GenerationOptionsTest, PenaltiesAreFiniteAndRepetitionIsAboveZero) {
  const auto repetition = [&](float value) {
    return With(WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY,
                &WINML_TEXT_GENERATION_OPTIONS::repetitionPenalty, value);
  };
  for (const float value : {0.5f, 1.0f, 5.0f}) EXPECT_EQ(repetition(value), S_OK) << value;
  for (const float value : {0.0f, -1.0f, kNaN, kInfinity}) EXPECT_EQ(repetition(value), E_INVALIDARG) << value;
  for (const float value : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_EQ(With(WINML_TEXT_GENERATION_OPTION_FIELD_PRESENCE_PENALTY, &WINML_TEXT_GENERATION_OPTIONS::presencePenalty,
                   value),
              E_INVALIDARG);
    EXPECT_EQ(With(WINML_TEXT_GENERATION_OPTION_FIELD_FREQUENCY_PENALTY,
                   &WINML_TEXT_GENERATION_OPTIONS::frequencyPenalty, value),
              E_INVALIDARG);
  }
}

// Options written by the application: what they say is checked when a generation starts.
class StrangerOptions final : public IWinMLTextGenerationOptions {
 public:
  virtual ~StrangerOptions() = default;
  WINML_TEXT_GENERATION_OPTIONS values = {};
  HRESULT values_result = S_OK;
  UINT32 stop_count = 0;  // told without an array
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE GetValues(WINML_TEXT_GENERATION_OPTIONS* told) override {
    *told = values;
    return values_result;
  }
  HRESULT STDMETHODCALLTYPE GetStopTokenIds(UINT32* count, UINT32** ids) override {
    *count = stop_count;
    *ids = nullptr;
    return S_OK;
  }
};

TEST_F(GenerationOptionsTest, OptionsOfAStrangerAreCheckedAtTheStart) {
  Open();
  const auto start = [&](StrangerOptions& options) {
    const UINT32 prompt = 1;
    ComPtr<IWinMLTextGenerationPullStream> stream;
    const HRESULT result = session->GenerateTokens(1, &prompt, &options, nullptr, stream.GetAddressOf());
    EXPECT_EQ(stream == nullptr, FAILED(result));
    return result;
  };
  StrangerOptions options;
  options.values = Values(2);
  EXPECT_EQ(start(options), S_OK);
  options.values.temperature = -1;
  options.values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE;
  EXPECT_EQ(start(options), E_INVALIDARG);
  options.values = Values(2);
  options.stop_count = 3;
  EXPECT_EQ(start(options), E_UNEXPECTED);
  options.stop_count = 0;
  options.values_result = E_ACCESSDENIED;
  EXPECT_EQ(start(options), E_ACCESSDENIED);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
}

}  // namespace
}  // namespace owml::test
