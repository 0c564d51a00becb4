// Constraints through their interfaces: who may make them, on which thread, and what filters, selectors and states say.
#include "conversation/token_constraint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "com/implements.h"
#include "com/wide.h"
#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

struct Asked {
  std::string syntax = "json_schema";
  UINT32 version = 1;
  std::string value = R"({"enum":["yes","no"]})";
  bool lazy = false;
  WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE trigger = WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TEXT;
  std::string trigger_value;  // empty: no trigger
  bool present = true;
  std::vector<UINT32> preserved;
};

// A format result that asks for what the test wants.
class StatedResult final
    : public Implements<StatedResult, IWinMLConversationFormatResult, IWinMLConversationFormatResultTokenizerIdentity> {
 public:
  StatedResult(Asked asked, ComPtr<IWinMLTokenizer> tokenizer)
      : asked_(std::move(asked)),
        syntax_(ToWide(asked_.syntax)),
        value_(ToWide(asked_.value)),
        trigger_(ToWide(asked_.trigger_value)),
        tokenizer_(std::move(tokenizer)) {}

  HRESULT STDMETHODCALLTYPE GetTokenIds(UINT32*, UINT32**) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetImplementationIdentity(LPCWSTR*, UINT32*) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetGenerationPrompt(LPCWSTR*) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetGenerationPromptMetadata(BOOL*, WINML_CONVERSATION_CONTINUATION*) noexcept override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetAdditionalStopCount(UINT32*) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetAdditionalStop(UINT32, LPCWSTR*) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetParserCapabilities(WINML_CONVERSATION_PARSER_CAPABILITIES*) noexcept override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetConstraint(WINML_CONVERSATION_CONSTRAINT_PRESENCE* presence, LPCWSTR* syntax,
                                          UINT32* version, BOOL* lazy, LPCWSTR* value) noexcept override {
    *presence =
        asked_.present ? WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT : WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    *syntax = syntax_.c_str();
    *version = asked_.version;
    *lazy = asked_.lazy;
    *value = value_.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetConstraintTriggerCount(UINT32* count) noexcept override {
    *count = trigger_.empty() ? 0 : 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetConstraintTrigger(UINT32, WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE* type, BOOL* has_id,
                                                 UINT32* id, LPCWSTR* value) noexcept override {
    *type = asked_.trigger;
    *has_id = FALSE;
    *id = 0;
    *value = trigger_.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetPreservedTokenCount(UINT32* count) noexcept override {
    *count = static_cast<UINT32>(asked_.preserved.size());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetPreservedToken(UINT32 index, BOOL* has_id, UINT32* id, LPCWSTR* text) noexcept override {
    *has_id = TRUE;
    *id = asked_.preserved[index];
    *text = L"";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateOutputParser(IWinMLConversationOutputParser**) noexcept override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override {
    *tokenizer = ComPtr<IWinMLTokenizer>(tokenizer_).Detach();
    return S_OK;
  }

 private:
  Asked asked_;
  std::wstring syntax_, value_, trigger_;
  ComPtr<IWinMLTokenizer> tokenizer_;
};

using Candidate = WINML_TOKEN_CONSTRAINT_CANDIDATE;

class TokenConstraintTest : public TinyTokenizerTest {
 protected:
  void SetUp() override {
    tokenizer_ = Open(TinyChatVocabulary());
    factory_ = Query<IWinMLTokenizerConstraintFactory>(tokenizer_.Get());
    ASSERT_TRUE(factory_);
  }

  HRESULT TryCreate(Asked asked, ComPtr<IWinMLTokenConstraint>* constraint, IWinMLTokenizer* maker = nullptr) const {
    auto result = Make<StatedResult>(std::move(asked), ComPtr<IWinMLTokenizer>(maker ? maker : tokenizer_.Get()));
    return factory_->CreateConstraint(result.Get(), constraint->ReleaseAndGetAddressOf());
  }
  ComPtr<IWinMLTokenConstraint> Create(Asked asked = {}) const {
    ComPtr<IWinMLTokenConstraint> constraint;
    EXPECT_EQ(TryCreate(std::move(asked), &constraint), S_OK);
    return constraint;
  }

  // The token of one byte.
  static UINT32 Byte(char c) { return 3 + static_cast<UINT32>(static_cast<uint8_t>(c)); }
  static void Accept(IWinMLTokenConstraint* constraint, const std::string& text) {
    for (char c : text) ASSERT_EQ(constraint->AcceptToken(Byte(c)), S_OK) << c;
  }
  static WINML_TOKEN_CONSTRAINT_STATE StateOf(IWinMLTokenConstraint* constraint) {
    WINML_TOKEN_CONSTRAINT_STATE state = {};
    EXPECT_EQ(constraint->GetState(&state), S_OK);
    return state;
  }
  static HRESULT Filter(IWinMLTokenConstraint* constraint, std::vector<Candidate>* candidates) {
    const auto count = static_cast<UINT32>(candidates->size());
    WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER buffer = {count, count, candidates->data()};
    const HRESULT result = constraint->FilterCandidates(&buffer);
    EXPECT_EQ(buffer.candidateCapacity, count);
    candidates->resize(buffer.candidateCount);
    return result;
  }

  ComPtr<IWinMLTokenizer> tokenizer_;
  ComPtr<IWinMLTokenizerConstraintFactory> factory_;
};

TEST_F(TokenConstraintTest, FilterKeepsAllowedCandidatesInOrder) {
  const auto constraint = Create();
  Accept(constraint.Get(), "\"");
  std::vector<Candidate> candidates = {{Byte('y'), 1}, {Byte('a'), 9}, {Byte('n'), 3}, {kImEnd, 4}};
  ASSERT_EQ(Filter(constraint.Get(), &candidates), S_OK);
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[0].tokenId, Byte('y'));
  EXPECT_EQ(candidates[0].logit, 1);
  EXPECT_EQ(candidates[1].tokenId, Byte('n'));
}

TEST_F(TokenConstraintTest, NoLegalCandidateIsAFailureThatEmptiesTheBuffer) {
  const auto constraint = Create();
  std::vector<Candidate> candidates = {{Byte('x'), 1}};
  EXPECT_EQ(Filter(constraint.Get(), &candidates), HRESULT_FROM_WIN32(ERROR_NO_MATCH));
  EXPECT_TRUE(candidates.empty());
  UINT32 selected = 7;
  const Candidate one = {Byte('x'), 1};
  const auto selector = Query<IWinMLTokenConstraintGreedySelector>(constraint.Get());
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->SelectHighestAllowedCandidate(1, &one, &selected), HRESULT_FROM_WIN32(ERROR_NO_MATCH));
  EXPECT_EQ(selector->SelectHighestAllowedCandidate(0, nullptr, &selected), HRESULT_FROM_WIN32(ERROR_NO_MATCH));
}

TEST_F(TokenConstraintTest, AMalformedBufferIsRefusedBeforeItIsTouched) {
  const auto constraint = Create();
  EXPECT_EQ(constraint->FilterCandidates(nullptr), E_POINTER);
  WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER none = {2, 2, nullptr};
  EXPECT_EQ(constraint->FilterCandidates(&none), E_POINTER);
  EXPECT_EQ(none.candidateCount, 2u);
  Candidate one = {Byte('"'), 1};
  WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER small = {2, 1, &one};
  EXPECT_EQ(constraint->FilterCandidates(&small), E_INVALIDARG);
  EXPECT_EQ(small.candidateCount, 2u);
  Candidate unknown = {1000000, 1};
  WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER buffer = {1, 1, &unknown};
  EXPECT_EQ(constraint->FilterCandidates(&buffer), E_INVALIDARG);
  EXPECT_EQ(buffer.candidateCount, 0u);
}

TEST_F(TokenConstraintTest, SelectorTakesTheHighestAllowedLogitAndTheLowerIdOnATie) {
  const auto constraint = Create();
  Accept(constraint.Get(), "\"");
  const auto selector = Query<IWinMLTokenConstraintGreedySelector>(constraint.Get());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto select = [&](float n, float y) {
    const Candidate candidates[] = {{Byte('a'), 100}, {Byte('n'), n}, {Byte('y'), y}};
    UINT32 selected = 0;
    EXPECT_EQ(selector->SelectHighestAllowedCandidate(3, candidates, &selected), S_OK);
    return selected;
  };
  EXPECT_EQ(select(1, 2), Byte('y'));
  EXPECT_EQ(select(2, 2), Byte('n'));
  EXPECT_EQ(select(NAN, -3), Byte('y'));
  EXPECT_EQ(select(-3, -kInfinity), Byte('n'));
  EXPECT_EQ(select(5, kInfinity), Byte('y'));
  // Selecting does not advance.
  EXPECT_EQ(StateOf(constraint.Get()).acceptedTokenCount, 1u);
  const Candidate unordered[] = {{Byte('y'), 1}, {Byte('n'), 1}};
  UINT32 selected = 0;
  EXPECT_EQ(selector->SelectHighestAllowedCandidate(2, unordered, &selected), E_INVALIDARG);
  const Candidate twice[] = {{Byte('y'), 1}, {Byte('y'), 1}};
  EXPECT_EQ(selector->SelectHighestAllowedCandidate(2, twice, &selected), E_INVALIDARG);
  EXPECT_EQ(selector->SelectHighestAllowedCandidate(1, twice, nullptr), E_POINTER);
}

TEST_F(TokenConstraintTest, GoesFromActiveToCompleted) {
  const auto constraint = Create();
  EXPECT_EQ(StateOf(constraint.Get()).status, WINML_TOKEN_CONSTRAINT_STATUS_ACTIVE);
  EXPECT_EQ(StateOf(constraint.Get()).stateFlags, WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE);
  Accept(constraint.Get(), "\"no\"");
  EXPECT_EQ(StateOf(constraint.Get()).stateFlags, WINML_TOKEN_CONSTRAINT_STATE_FLAG_CAN_STOP);
  BOOL stop = FALSE;
  EXPECT_EQ(constraint->IsStopToken(kImEnd, &stop), S_OK);
  EXPECT_TRUE(stop);
  EXPECT_EQ(constraint->IsStopToken(Byte('n'), &stop), S_OK);
  EXPECT_FALSE(stop);
  EXPECT_EQ(constraint->AcceptToken(kImEnd), S_OK);
  const auto state = StateOf(constraint.Get());
  EXPECT_EQ(state.status, WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED);
  EXPECT_EQ(state.stateFlags, WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE);
  EXPECT_EQ(state.acceptedTokenCount, 5u);
  EXPECT_GE(state.peakStackCount, 1u);
  EXPECT_EQ(constraint->AcceptToken(Byte('n')), E_NOT_VALID_STATE);
}

TEST_F(TokenConstraintTest, AForbiddenTokenPoisonsUntilReset) {
  const auto constraint = Create();
  EXPECT_EQ(constraint->AcceptToken(Byte('x')), E_INVALIDARG);
  EXPECT_EQ(StateOf(constraint.Get()).status, WINML_TOKEN_CONSTRAINT_STATUS_POISONED);
  EXPECT_EQ(StateOf(constraint.Get()).stateFlags, WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE);
  EXPECT_EQ(constraint->AcceptToken(Byte('"')), E_NOT_VALID_STATE);
  std::vector<Candidate> candidates = {{Byte('"'), 1}};
  EXPECT_EQ(Filter(constraint.Get(), &candidates), HRESULT_FROM_WIN32(ERROR_NO_MATCH));
  EXPECT_EQ(constraint->Reset(), S_OK);
  EXPECT_EQ(StateOf(constraint.Get()).acceptedTokenCount, 0u);
  Accept(constraint.Get(), "\"yes\"");
}

TEST_F(TokenConstraintTest, AwaitsItsTrigger) {
  Asked asked;
  asked.syntax = "gbnf";
  asked.value = "root ::= \"<<\" [0-9]+ \">>\"";
  asked.lazy = true;
  asked.trigger_value = "<<";
  const auto constraint = Create(asked);
  EXPECT_EQ(StateOf(constraint.Get()).stateFlags,
            WINML_TOKEN_CONSTRAINT_STATE_FLAG_AWAITING_TRIGGER | WINML_TOKEN_CONSTRAINT_STATE_FLAG_CAN_STOP);
  Accept(constraint.Get(), "so <<");
  EXPECT_EQ(StateOf(constraint.Get()).stateFlags, WINML_TOKEN_CONSTRAINT_STATE_FLAG_NONE);
  std::vector<Candidate> candidates = {{Byte('5'), 1}, {Byte('a'), 1}};
  ASSERT_EQ(Filter(constraint.Get(), &candidates), S_OK);
  EXPECT_EQ(candidates.size(), 1u);
}

TEST_F(TokenConstraintTest, SaysWhichTokensStayInTheOutput) {
  Asked asked;
  asked.preserved = {kImStart};
  const auto constraint = Create(asked);
  BOOL preserved = FALSE;
  EXPECT_EQ(constraint->IsPreservedToken(kImStart, &preserved), S_OK);
  EXPECT_TRUE(preserved);
  EXPECT_EQ(constraint->IsPreservedToken(kImEnd, &preserved), S_OK);
  EXPECT_FALSE(preserved);
  EXPECT_EQ(constraint->IsPreservedToken(1000000, &preserved), E_INVALIDARG);
  EXPECT_EQ(constraint->IsPreservedToken(kImEnd, nullptr), E_POINTER);
}

TEST_F(TokenConstraintTest, IsBoundToItsThread) {
  const auto constraint = Create();
  HRESULT results[7] = {};
  std::thread([&] {
    WINML_CONSTRAINT_VOCABULARY_IDENTITY identity;
    WINML_TOKEN_CONSTRAINT_STATE state;
    Candidate one = {Byte('"'), 1};
    WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER buffer = {1, 1, &one};
    UINT32 selected = 0;
    BOOL is = FALSE;
    results[0] = constraint->GetVocabularyIdentity(&identity);
    results[1] = constraint->FilterCandidates(&buffer);
    results[2] = constraint->AcceptToken(Byte('"'));
    results[3] = constraint->IsStopToken(0, &is);
    results[4] = constraint->GetState(&state);
    results[5] = constraint->Reset();
    results[6] =
        Query<IWinMLTokenConstraintGreedySelector>(constraint.Get())->SelectHighestAllowedCandidate(1, &one, &selected);
  }).join();
  for (HRESULT result : results) EXPECT_EQ(result, RPC_E_WRONG_THREAD);
  EXPECT_EQ(StateOf(constraint.Get()).acceptedTokenCount, 0u);
}

TEST_F(TokenConstraintTest, RefusesResultsOfAnotherTokenizerAndResultsWithoutConstraint) {
  const auto other = Open(TinyChatVocabulary());
  ComPtr<IWinMLTokenConstraint> constraint;
  EXPECT_EQ(TryCreate({}, &constraint, other.Get()), E_INVALIDARG);
  EXPECT_FALSE(constraint);
  Asked none;
  none.present = false;
  EXPECT_EQ(TryCreate(none, &constraint), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  EXPECT_EQ(factory_->CreateConstraint(nullptr, constraint.ReleaseAndGetAddressOf()), E_POINTER);
  auto result = Make<StatedResult>(Asked{}, tokenizer_);
  EXPECT_EQ(factory_->CreateConstraint(result.Get(), nullptr), E_POINTER);
}

TEST_F(TokenConstraintTest, RefusesWhatItDoesNotKnow) {
  ComPtr<IWinMLTokenConstraint> constraint;
  Asked asked;
  asked.syntax = "lark";
  EXPECT_EQ(TryCreate(asked, &constraint), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  asked = {};
  asked.version = 2;
  EXPECT_EQ(TryCreate(asked, &constraint), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  asked = {};
  asked.value = R"({"type":"string","sometimes":true})";
  EXPECT_EQ(TryCreate(asked, &constraint), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  asked.value = R"({"type":"strin"})";
  EXPECT_EQ(TryCreate(asked, &constraint), E_INVALIDARG);
}

TEST_F(TokenConstraintTest, IdentityIsTheSameForTheSameVocabularyAndAnotherForAnother) {
  const auto identity_of = [](IWinMLTokenizer* tokenizer) {
    WINML_CONSTRAINT_VOCABULARY_IDENTITY identity = {};
    EXPECT_EQ(Query<IWinMLTokenizerConstraintFactory>(tokenizer)->GetVocabularyIdentity(&identity), S_OK);
    return std::make_pair(identity.tokenCount, std::string(identity.sha256, identity.sha256 + 32));
  };
  EXPECT_EQ(identity_of(tokenizer_.Get()), identity_of(Open(TinyChatVocabulary()).Get()));
  GgufWriter file = TinyChatVocabulary();
  file.Add("tokenizer.ggml.eos_token_id", kImStart);
  EXPECT_NE(identity_of(tokenizer_.Get()), identity_of(Open(file).Get()));
  WINML_CONSTRAINT_VOCABULARY_IDENTITY identity = {};
  const auto constraint = Create();
  EXPECT_EQ(constraint->GetVocabularyIdentity(&identity), S_OK);
  EXPECT_EQ(std::make_pair(identity.tokenCount, std::string(identity.sha256, identity.sha256 + 32)),
            identity_of(tokenizer_.Get()));
}

TEST_F(TokenConstraintTest, TheFactoryNamesItsTokenizer) {
  ComPtr<IWinMLTokenizer> tokenizer;
  ASSERT_EQ(factory_->GetTokenizer(tokenizer.GetAddressOf()), S_OK);
  EXPECT_EQ(tokenizer.Get(), tokenizer_.Get());
}

}  // namespace
}  // namespace owml::test
