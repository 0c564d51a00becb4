// Models that fail or lie: the result carries the error, the session asks for a reset and works again after it.
#include <cmath>
#include <limits>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class BadModelTest : public TextGenerationTest {
 protected:
  // A failed answer, the session's state afterwards, and its recovery once `mend` has run.
  template <class Mend>
  void ExpectFailure(HRESULT code, const std::string& sentence, size_t tokens, Mend mend) {
    const Answer answer = Generate({1, 2}, 6);
    EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_ERROR);
    EXPECT_EQ(answer.error, code) << answer.sentence;
    EXPECT_THAT(answer.sentence, HasSubstr(sentence));
    EXPECT_THAT(answer.tokens, SizeIs(tokens));
    EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED);
    EXPECT_EQ(SequenceState().disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_UNUSABLE);
    const UINT32 token = 1;
    ComPtr<IWinMLTextGenerationPullStream> stream;
    EXPECT_EQ(session->GenerateTokens(1, &token, nullptr, nullptr, stream.GetAddressOf()), E_NOT_VALID_STATE);
    EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("reset"));
    EXPECT_EQ(session->ContinueTokens(1, &token, nullptr, nullptr, stream.GetAddressOf()), E_NOT_VALID_STATE);
    mend();
    EXPECT_EQ(session->Reset(), S_OK);
    EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
    EXPECT_EQ(Generate({1, 2}, 4).tokens, Expected({1, 2}, 4));
  }

  void ExpectBadLogit(float value, const std::string& sentence) {
    const auto good = model->logits_of;
    model->logits_of = [good, value](const Tokens& sequence) {
      std::vector<float> logits = good(sequence);
      if (sequence.size() == 4) logits[20] = value;
      return logits;
    };
    Open();
    ExpectFailure(kBadData, sentence, 2, [&] { model->logits_of = good; });
  }
};

TEST_F(BadModelTest, NotANumberAmongTheLogits) {
  ExpectBadLogit(std::numeric_limits<float>::quiet_NaN(), "token 20 of 29 is not a number");
}

TEST_F(BadModelTest, PlusInfinityAmongTheLogits) {
  ExpectBadLogit(std::numeric_limits<float>::infinity(), "token 20 of 29 is plus infinity");
}

TEST_F(BadModelTest, NothingButMinusInfinity) {
  const auto good = model->logits_of;
  model->logits_of = [](const Tokens&) {
    return std::vector<float>(kStrangerVocabulary, -std::numeric_limits<float>::infinity());
  };
  Open();
  ExpectFailure(kBadData, "all 29 logits are minus infinity", 0, [&] { model->logits_of = good; });
}

TEST_F(BadModelTest, OutOfMemoryInTheMiddle) {
  Open();
  model->before_run = [](size_t run) { return run == 3 ? E_OUTOFMEMORY : S_OK; };
  ExpectFailure(E_OUTOFMEMORY, "running the unified pipeline", 3,
                [&] { model->before_run = [](size_t) { return S_OK; }; });
}

TEST_F(BadModelTest, APromptThatFails) {
  Open();
  model->before_run = [](size_t) { return E_ABORT; };
  ExpectFailure(E_ABORT, "running the unified pipeline", 0, [&] { model->before_run = [](size_t) { return S_OK; }; });
}

TEST_F(BadModelTest, LogitsOfAnotherWidth) {
  const auto good = model->logits_of;
  model->logits_of = [](const Tokens&) { return std::vector<float>(7, 0.0f); };
  Open();
  ExpectFailure(E_UNEXPECTED, "7 logits a row instead of 29", 0, [&] { model->logits_of = good; });
}

TEST_F(BadModelTest, AnOutputTensorThatLies) {
  Open();
  model->output_conduct.size_error = -8;
  ExpectFailure(E_INVALIDARG, "its lock gives", 0, [&] { model->output_conduct = {}; });
}

TEST_F(BadModelTest, AnOutputThatCannotBeRequested) {
  Open();
  model->request_result = kNotSupported;
  ExpectFailure(kNotSupported, "RequestOutput", 0, [&] { model->request_result = S_OK; });
}

TEST_F(BadModelTest, AResetThatFailsLeavesTheSessionToBeReset) {
  Open();
  Generate({1}, 1);
  model->reset_result = E_FAIL;
  EXPECT_EQ(session->Reset(), E_FAIL);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED);
  model->reset_result = S_OK;
  EXPECT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(Generate({1, 2}, 2).tokens, Expected({1, 2}, 2));
}

TEST_F(BadModelTest, AFailedSessionCanBeClosed) {
  Open();
  model->before_run = [](size_t) { return E_ABORT; };
  Generate({1}, 1);
  EXPECT_EQ(session->Close(), S_OK);
}

TEST_F(BadModelTest, TheErrorStaysWithTheResult) {
  Open();
  model->before_run = [](size_t) { return E_ABORT; };
  const auto stream = Start({1}, Options(1).Get());
  Answer answer;
  EXPECT_FALSE(ReadOne(stream.Get(), &answer));
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("running the unified pipeline"));
  ComPtr<IWinMLTextGenerationResult> result;
  ASSERT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
  stream->Close();
  HRESULT error = S_OK;
  SetErrorInfo(0, nullptr);
  EXPECT_EQ(result->GetErrorCode(&error), S_OK);
  EXPECT_EQ(error, E_ABORT);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("running the unified pipeline"));
}

}  // namespace
}  // namespace owml::test
