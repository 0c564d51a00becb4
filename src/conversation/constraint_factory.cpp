// Reads what a format result asks for through its public face and has it compiled.
// Called by the tokenizer object.
#include "conversation/constraint_factory.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "com/com_ptr.h"
#include "com/guard.h"
#include "com/wide.h"
#include "conversation/token_constraint.h"
#include "text/constraint/compiled_constraint.h"

namespace owml {
namespace {

constexpr const char* kResult = "the format result";
constexpr UINT32 kMostParts = 100000;

// Spec-open: a result belongs to the tokenizer object that made it; another object over the same file is another
// tokenizer.
void RequireOwn(IWinMLTokenizer* self, IWinMLConversationFormatResult* result) {
  const auto identity = Query<IWinMLConversationFormatResultTokenizerIdentity>(result);
  Require(identity != nullptr, E_INVALIDARG, "the format result does not say which tokenizer made it");
  ComPtr<IWinMLTokenizer> maker;
  ClearThreadError();
  CheckResult(identity->GetTokenizer(maker.GetAddressOf()), kResult, "GetTokenizer");
  Require(maker && SameObject(maker.Get(), self), E_INVALIDARG, "the format result was made by another tokenizer");
}

std::string Text(LPCWSTR text) { return text ? ToUtf8(text) : std::string(); }

text::ConstraintTrigger::Kind KindOf(WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE type) {
  switch (type) {
    case WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TOKEN:
      return text::ConstraintTrigger::Kind::kToken;
    case WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TEXT:
      return text::ConstraintTrigger::Kind::kText;
    case WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_PATTERN:
      return text::ConstraintTrigger::Kind::kPattern;
    case WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_FULL_PATTERN:
      return text::ConstraintTrigger::Kind::kFullPattern;
  }
  throw Error(E_INVALIDARG, "the format result has a trigger of the unknown type " + std::to_string(type));
}

text::ConstraintRequest ReadRequest(IWinMLConversationFormatResult* result) {
  auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
  LPCWSTR syntax = nullptr, value = nullptr;
  BOOL lazy = FALSE;
  text::ConstraintRequest request;
  ClearThreadError();
  CheckResult(result->GetConstraint(&presence, &syntax, &request.syntax_version, &lazy, &value), kResult,
              "GetConstraint");
  Require(presence == WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
          "the formatted conversation asks for no constraint");
  request.syntax = Text(syntax);
  request.value = Text(value);
  request.lazy = lazy != FALSE;
  UINT32 count = 0;
  ClearThreadError();
  CheckResult(result->GetConstraintTriggerCount(&count), kResult, "GetConstraintTriggerCount");
  Require(count <= kMostParts, E_INVALIDARG, "the format result has too many triggers");
  for (UINT32 i = 0; i < count; ++i) {
    auto type = WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TOKEN;
    BOOL has_token = FALSE;
    UINT32 token = 0;
    LPCWSTR text = nullptr;
    ClearThreadError();
    CheckResult(result->GetConstraintTrigger(i, &type, &has_token, &token, &text), kResult, "GetConstraintTrigger");
    text::ConstraintTrigger trigger;
    trigger.kind = KindOf(type);
    if (has_token) trigger.token_id = token;
    trigger.value = Text(text);
    request.triggers.push_back(std::move(trigger));
  }
  return request;
}

std::vector<text::PreservedToken> ReadPreserved(IWinMLConversationFormatResult* result) {
  UINT32 count = 0;
  ClearThreadError();
  CheckResult(result->GetPreservedTokenCount(&count), kResult, "GetPreservedTokenCount");
  Require(count <= kMostParts, E_INVALIDARG, "the format result has too many preserved tokens");
  std::vector<text::PreservedToken> tokens;
  for (UINT32 i = 0; i < count; ++i) {
    BOOL has_token = FALSE;
    UINT32 id = 0;
    LPCWSTR text = nullptr;
    ClearThreadError();
    CheckResult(result->GetPreservedToken(i, &has_token, &id, &text), kResult, "GetPreservedToken");
    text::PreservedToken token;
    if (has_token) token.token_id = id;
    token.text = Text(text);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

ConstraintFactory::ConstraintFactory(std::shared_ptr<const text::Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)) {}

ConstraintFactory::~ConstraintFactory() = default;

text::ConstraintCompiler& ConstraintFactory::Compiler() {
  std::call_once(once_, [&] {
    compiler_ =
        std::make_unique<text::ConstraintCompiler>(std::make_shared<const text::ConstraintVocabulary>(tokenizer_));
  });
  return *compiler_;
}

WINML_CONSTRAINT_VOCABULARY_IDENTITY ConstraintFactory::Identity() {
  return VocabularyIdentity(*Compiler().vocabulary());
}

IWinMLTokenConstraint* ConstraintFactory::Create(IWinMLTokenizer* self, IWinMLConversationFormatResult* result) {
  RequireOwn(self, result);
  const text::ConstraintRequest request = ReadRequest(result);
  const std::vector<text::PreservedToken> preserved = ReadPreserved(result);
  return Make<TokenConstraint>(Compiler().Compile(request, preserved)).Detach();
}

}  // namespace owml
