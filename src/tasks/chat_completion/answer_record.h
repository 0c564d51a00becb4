// Collects what the events of an answer say: content, reasoning, tool calls, the first error.
// Filled by a completion; the result shows it.
#pragma once

#include <WinMLConversation.h>

#include <map>
#include <string>
#include <vector>

namespace owml {

struct RecordedToolCall {
  std::wstring id;
  std::wstring name;
  std::wstring arguments;
};

class AnswerRecord {
 public:
  // Throws what the event's getters answer, E_UNEXPECTED for an event that does not follow from the ones before.
  void Add(IWinMLConversationOutputEvent* event, WINML_CONVERSATION_OUTPUT_EVENT_TYPE type);

  const std::wstring& content() const { return content_; }
  const std::wstring& reasoning() const { return reasoning_; }

  // Those that have ended, in the order of their indices.
  std::vector<RecordedToolCall> ToolCalls() const;

  HRESULT error() const { return error_; }
  const std::string& sentence() const { return sentence_; }

 private:
  struct Call : RecordedToolCall {
    bool ended = false;
  };

  Call& OpenCall(IWinMLConversationOutputEvent* event);

  std::wstring content_;
  std::wstring reasoning_;
  std::map<UINT32, Call> calls_;  // by index
  HRESULT error_ = S_OK;
  std::string sentence_;
};

}  // namespace owml
