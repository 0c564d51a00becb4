// Replies in a model family's own format, parsed by llama.cpp's grammar of it.
// Made by the model's default formatter.
#pragma once

#include <chat.h>
#include <peg-parser.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "text/template/reply_parser.h"

namespace owml::text {

struct ChatReplyFormat {
  common_chat_format format = COMMON_CHAT_FORMAT_CONTENT_ONLY;
  common_peg_arena grammar;
  std::string generation_prompt;  // what the grammar reads before the reply
  bool reasoning = false;
  bool tool_calls = false;
  bool parallel_calls = false;
  size_t calls_before = 0;          // in the conversation
  std::set<std::string> known_ids;  // of those
};

class ChatReplySyntax final : public ReplySyntax {
 public:
  explicit ChatReplySyntax(ChatReplyFormat format);

  std::unique_ptr<ReplyParser> CreateParser() const override;
  const char* name() const override { return common_chat_format_name(shared_->format.format); }
  bool separates_reasoning() const override { return shared_->format.reasoning; }
  bool separates_tool_calls() const override { return shared_->format.tool_calls; }
  bool separates_parallel_calls() const override { return shared_->format.parallel_calls; }
  // Whether the grammar has a place for the name of a call.
  bool reads_tool_calls() const { return shared_->has_names; }

  struct Shared {
    ChatReplyFormat format;
    // Texts that end content or reasoning, when these are nothing but the text up to one of them.
    std::vector<std::string> delimiters;
    bool text_runs_on = false;
    std::vector<std::string> marks;  // those that occur only in the format itself
    bool has_ids = false;            // the format has a place for the ids of calls
    bool has_names = false;          // and for their names
  };

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace owml::text
