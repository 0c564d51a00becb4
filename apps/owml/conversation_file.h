// A conversation in a JSON file as the request that the formatter takes: a list of messages as chat services know
// them, or an object with messages, tools and what is asked of the answer. Nothing in the file is left unread.
// Used by `owml template`.
#pragma once

#include <WinMLConversation.h>

#include <deque>
#include <string>
#include <vector>

#include "json_output.h"

namespace owml::cli {

class ConversationFile {
 public:
  // Throws Failure with the name of the place for what is no conversation. `label` is for messages.
  ConversationFile(const std::string& json, std::string label);
  ConversationFile(const ConversationFile&) = delete;
  ConversationFile& operator=(const ConversationFile&) = delete;

  // Points into this object.
  WINML_CONVERSATION_REQUEST& request() { return request_; }

 private:
  class Object;

  void ReadRequest(const Json& json);
  void ReadMessages(const Json& json);
  void ReadMessage(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message);
  void ReadParts(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message);
  void ReadCalls(const Json& json, const std::string& where, WINML_CONVERSATION_MESSAGE* message);
  void ReadTools(const Json& json);
  void ReadToolChoice(const Json& json);
  void ReadResponseFormat(const Json& json);
  void ReadTemplateValues(const Json& json);

  LPCWSTR Keep(const std::string& text);
  LPCWSTR KeepJson(const Json& value);
  // Null for JSON's null and for what is not there.
  LPCWSTR KeepText(const Json* value, const std::string& where);
  [[noreturn]] void Fail(const std::string& where, const std::string& what) const;

  std::string label_;
  WINML_CONVERSATION_REQUEST request_ = {};
  std::deque<std::wstring> texts_;
  std::vector<WINML_CONVERSATION_MESSAGE> messages_;
  std::deque<std::vector<WINML_CONVERSATION_CONTENT_PART>> parts_;
  std::deque<std::vector<WINML_CONVERSATION_TOOL_CALL>> calls_;
  std::vector<WINML_CONVERSATION_TOOL> tools_;
  std::vector<WINML_CONVERSATION_TEMPLATE_VALUE> values_;
};

}  // namespace owml::cli
