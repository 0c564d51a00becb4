// In the order of the steps: format, parser, constraint.
// See prepared_request.h.
#include "tasks/chat_completion/prepared_request.h"

#include <utility>

#include "com/guard.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
constexpr const char* kResult = "the format result";

ComPtr<IWinMLConversationFormatResult> Format(IWinMLTokenizer* tokenizer, const WINML_CONVERSATION_REQUEST& request) {
  const auto formatter = Query<IWinMLStructuredConversationFormatter>(tokenizer);
  Require(formatter != nullptr, E_NOINTERFACE, "the tokenizer formats no conversations");
  ComPtr<IWinMLConversationFormatResult> result;
  ClearThreadError();
  CheckResult(formatter->FormatConversation(&request, result.GetAddressOf()), "the formatter");
  Require(result != nullptr, E_UNEXPECTED, "the formatter: FormatConversation succeeded without a result");
  return result;
}

std::vector<uint32_t> Prompt(IWinMLConversationFormatResult* format) {
  TokenArray tokens;
  ClearThreadError();
  CheckResult(format->GetTokenIds(tokens.count(), tokens.ids()), kResult, "GetTokenIds");
  return tokens.Take("the format result: GetTokenIds");
}

std::vector<std::wstring> Stops(IWinMLConversationFormatResult* format) {
  UINT32 count = 0;
  ClearThreadError();
  CheckResult(format->GetAdditionalStopCount(&count), kResult, "GetAdditionalStopCount");
  std::vector<std::wstring> stops;
  for (UINT32 i = 0; i < count; ++i) {
    LPCWSTR stop = nullptr;
    ClearThreadError();
    CheckResult(format->GetAdditionalStop(i, &stop), kResult, "GetAdditionalStop");
    Require(stop && *stop, E_UNEXPECTED, "the format result: the additional stop " + std::to_string(i) + " is empty");
    stops.emplace_back(stop);
  }
  return stops;
}

// Those without an id of their own are ordinary text and need no help.
std::vector<PreservedToken> Preserved(IWinMLConversationFormatResult* format) {
  UINT32 count = 0;
  ClearThreadError();
  CheckResult(format->GetPreservedTokenCount(&count), kResult, "GetPreservedTokenCount");
  std::vector<PreservedToken> preserved;
  for (UINT32 i = 0; i < count; ++i) {
    BOOL has_id = FALSE;
    UINT32 id = 0;
    LPCWSTR text = nullptr;
    ClearThreadError();
    CheckResult(format->GetPreservedToken(i, &has_id, &id, &text), kResult, "GetPreservedToken");
    if (has_id && text) preserved.push_back({id, text});
  }
  return preserved;
}

ComPtr<IWinMLConversationOutputParser> Parser(IWinMLConversationFormatResult* format) {
  ComPtr<IWinMLConversationOutputParser> parser;
  ClearThreadError();
  CheckResult(format->CreateOutputParser(parser.GetAddressOf()), kResult, "CreateOutputParser");
  Require(parser != nullptr, E_UNEXPECTED, "the format result: CreateOutputParser succeeded without a parser");
  return parser;
}

ComPtr<IWinMLTokenConstraint> Constraint(IWinMLTokenizer* tokenizer, IWinMLConversationFormatResult* format) {
  auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
  LPCWSTR syntax = nullptr;
  LPCWSTR value = nullptr;
  UINT32 version = 0;
  BOOL lazy = FALSE;
  ClearThreadError();
  CheckResult(format->GetConstraint(&presence, &syntax, &version, &lazy, &value), kResult, "GetConstraint");
  if (presence == WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE) return nullptr;
  const auto factory = Query<IWinMLTokenizerConstraintFactory>(tokenizer);
  Require(factory != nullptr, kNotSupported,
          "the request needs a constraint on the answer, and the tokenizer makes none "
          "(IWinMLTokenizerConstraintFactory)");
  ComPtr<IWinMLTokenConstraint> constraint;
  ClearThreadError();
  CheckResult(factory->CreateConstraint(format, constraint.GetAddressOf()), "the tokenizer");
  Require(constraint != nullptr, E_UNEXPECTED, "the tokenizer: CreateConstraint succeeded without a constraint");
  return constraint;
}

}  // namespace

PreparedRequest PrepareRequest(IWinMLTokenizer* tokenizer, const WINML_CONVERSATION_REQUEST& request) {
  PreparedRequest prepared;
  prepared.format = Format(tokenizer, request);
  prepared.prompt = Prompt(prepared.format.Get());
  prepared.stops = Stops(prepared.format.Get());
  prepared.preserved = Preserved(prepared.format.Get());
  prepared.parser = Parser(prepared.format.Get());
  prepared.constraint = Constraint(tokenizer, prepared.format.Get());
  return prepared;
}

}  // namespace owml
