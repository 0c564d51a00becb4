// What a conversation needs before text can be generated: its prompt, a parser for the answer, perhaps a constraint.
// Made by the chat session for each request, from a tokenizer's public interfaces.
#pragma once

#include <WinMLConversation.h>
#include <WinMLTokenizer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "com/com_ptr.h"

namespace owml {

// A special token that the parser reads as text.
struct PreservedToken {
  uint32_t id;
  std::wstring text;
};

struct PreparedRequest {
  ComPtr<IWinMLConversationFormatResult> format;
  ComPtr<IWinMLConversationOutputParser> parser;
  ComPtr<IWinMLTokenConstraint> constraint;  // null = none is asked for
  std::vector<uint32_t> prompt;
  std::vector<std::wstring> stops;  // none is empty
  std::vector<PreservedToken> preserved;
};

// Touches no generation. Throws what formatter, parser and constraint factory answer, ERROR_NOT_SUPPORTED when the
// request implies a constraint and the tokenizer makes none.
PreparedRequest PrepareRequest(IWinMLTokenizer* tokenizer, const WINML_CONVERSATION_REQUEST& request);

}  // namespace owml
