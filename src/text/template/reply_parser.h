// Parsers of what a model writes: content, reasoning and tool calls, as the text arrives.
// Made by a formatted prompt, one for each reply; called by the output parser objects of src/conversation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

struct ReplyEvent {
  enum class Kind : uint8_t {
    kContent,    // `text`
    kReasoning,  // `text`
    kCallStart,  // `index`, `id`, `name`
    kArguments,  // the same and `text`, a piece of JSON
    kCallEnd,    // `index`, `id`, `name`
    kError,      // `text`: what is wrong with the reply; nothing follows but kCompleted
    kCompleted,
  };
  Kind kind = Kind::kContent;
  std::string text;
  uint32_t index = 0;
  std::string id;
  std::string name;
};

class ReplyParser {
 public:
  virtual ~ReplyParser() = default;

  // Whole characters of UTF-8. Adds to `events`.
  virtual void Append(std::string_view text, std::vector<ReplyEvent>* events) = 0;
  // The reply ends here; the last event is kCompleted. Called once.
  virtual void Finish(std::vector<ReplyEvent>* events) = 0;
};

// What a prompt knows about the reply to it. Immutable; shared by its parsers.
class ReplySyntax {
 public:
  virtual ~ReplySyntax() = default;

  virtual std::unique_ptr<ReplyParser> CreateParser() const = 0;
  // For identities: "content", "think-tags", ...
  virtual const char* name() const = 0;

  virtual bool separates_reasoning() const { return false; }
  virtual bool separates_tool_calls() const { return false; }
  virtual bool separates_parallel_calls() const { return false; }
};

}  // namespace owml::text
