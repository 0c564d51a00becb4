// A conversation with a language model over the chat task: its turns as JSON, answers as they come, files of turns.
// Used by `owml chat`.
#pragma once

#include <functional>
#include <string>

#include "json_output.h"
#include "text_session.h"

namespace owml::cli {

struct ChatAnswer {
  std::string content;
  std::string reasoning;
  Json tool_calls = Json::array();  // as turns hold them
  GenerationStats stats;
};

class ChatConversation {
 public:
  // `request` has what goes with every turn, such as tools. Throws Failure when the model carries no chat template.
  ChatConversation(const TextSession& session, Json request, std::string system);
  ~ChatConversation();
  ChatConversation(const ChatConversation&) = delete;
  ChatConversation& operator=(const ChatConversation&) = delete;

  // Back to the system message.
  void Restart();

  // Adds a turn ("user", or "tool" for the result of the last call) and the answer to it. `emit` gets its content. On
  // failure, or when it was cancelled before it said anything, the turn is taken back.
  ChatAnswer Answer(const std::string& role, const std::string& text, IWinMLCancellationSource* source,
                    const std::function<void(const std::string&)>& emit);

  // The turns as a list of messages, the form that `owml template` reads.
  void Save(const std::string& path) const;
  // Throws Failure, and nothing has changed.
  void Load(const std::string& path);

 private:
  Json NewTurn(const std::string& role, const std::string& text) const;
  ChatAnswer Generate(IWinMLCancellationSource* source, const std::function<void(const std::string&)>& emit);
  void ReadResult(IWinMLChatCompletionResult* result, ChatAnswer* answer) const;
  size_t CountPrompt(const WINML_CONVERSATION_REQUEST& request) const;

  const TextSession& session_;
  const Json request_;
  const std::string system_;
  ComPtr<IWinMLChatCompletionSession> chat_;
  Json messages_ = Json::array();
};

}  // namespace owml::cli
