// Conversations and templates for the tests of this folder.
// Included by its tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "text/template/formatted_prompt.h"

namespace owml::text::test {

inline std::string ReadTextFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The chat templates in llama.cpp's source package.
inline std::vector<std::filesystem::path> PublishedTemplates() {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path(OWML_LLAMA_DATA_DIR) / "templates";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline ConversationMessage Says(const std::string& role, const std::string& content) {
  ConversationMessage message;
  message.role = role;
  message.content = content;
  return message;
}

inline ConversationMessage Calls(std::vector<ToolCall> calls, const std::string& content = "") {
  ConversationMessage message = Says("assistant", content);
  message.tool_calls = std::move(calls);
  return message;
}

inline ToolDefinition WeatherTool() {
  return {
      "get_weather",
      "Tells the weather of a city.",
      {R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]})"}};
}

inline ToolDefinition AddTool() {
  return {"add",
          "Adds two numbers.",
          {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]})"}};
}

inline Conversation Asked(const std::string& text, bool with_tools = false) {
  Conversation conversation;
  conversation.messages.push_back(Says("user", text));
  conversation.add_generation_prompt = true;
  conversation.unix_seconds = 1700000000;
  if (with_tools) conversation.tools = {WeatherTool(), AddTool()};
  return conversation;
}

// What a reader of events has at the end.
struct Reply {
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;
    bool ended = false;
  };
  std::string content;
  std::string reasoning;
  std::vector<Call> calls;
  std::string error;
  size_t events = 0;
  bool completed = false;
};

inline void Collect(const std::vector<ReplyEvent>& events, Reply* reply) {
  for (const ReplyEvent& event : events) {
    ASSERT_FALSE(reply->completed) << "an event behind kCompleted";
    ++reply->events;
    switch (event.kind) {
      case ReplyEvent::Kind::kContent:
        reply->content += event.text;
        break;
      case ReplyEvent::Kind::kReasoning:
        reply->reasoning += event.text;
        break;
      case ReplyEvent::Kind::kCallStart:
        ASSERT_EQ(event.index, reply->calls.size());
        reply->calls.push_back({event.id, event.name, "", false});
        break;
      case ReplyEvent::Kind::kArguments:
      case ReplyEvent::Kind::kCallEnd:
        ASSERT_LT(event.index, reply->calls.size());
        ASSERT_EQ(event.id, reply->calls[event.index].id);
        ASSERT_EQ(event.name, reply->calls[event.index].name);
        ASSERT_FALSE(reply->calls[event.index].ended);
        if (event.kind == ReplyEvent::Kind::kCallEnd) {
          reply->calls[event.index].ended = true;
        } else {
          reply->calls[event.index].arguments += event.text;
        }
        break;
      case ReplyEvent::Kind::kError:
        ASSERT_TRUE(reply->error.empty()) << "two errors";
        ASSERT_FALSE(event.text.empty());
        reply->error = event.text;
        break;
      case ReplyEvent::Kind::kCompleted:
        for (const Reply::Call& call : reply->calls) ASSERT_TRUE(call.ended) << call.name;
        reply->completed = true;
        break;
    }
  }
}

// Feeds `text` in the pieces that `size_of_next` asks for, never cutting through a character.
template <typename SizeOfNext>
Reply Parse(const ReplySyntax& syntax, const std::string& text, SizeOfNext size_of_next) {
  const auto parser = syntax.CreateParser();
  Reply reply;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + size_of_next());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    std::vector<ReplyEvent> events;
    parser->Append(std::string_view(text).substr(at, end - at), &events);
    Collect(events, &reply);
    at = end;
  }
  std::vector<ReplyEvent> events;
  parser->Finish(&events);
  Collect(events, &reply);
  EXPECT_TRUE(reply.completed);
  return reply;
}

inline Reply ParseWhole(const ReplySyntax& syntax, const std::string& text) {
  return Parse(syntax, text, [&] { return std::max<size_t>(1, text.size()); });
}

}  // namespace owml::text::test
