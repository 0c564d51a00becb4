// Fuzz target: replies on any bytes, read by parsers of three families; the first byte says how they are cut.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "llama/llama_hooks.h"
#include "reply_samples.h"
#include "text/template/model_formatter.h"
#include "text/template/portable_formatter.h"
#include "text/unicode/utf8.h"

namespace {

using owml::text::ReplyEvent;

std::vector<std::shared_ptr<const owml::text::ReplySyntax>> Syntaxes() {
  owml::InstallLlamaHooks();
  owml::text::Conversation conversation;
  owml::text::ConversationMessage message;
  message.role = "user";
  message.content = "Hi";
  conversation.messages.push_back(message);
  conversation.add_generation_prompt = true;
  std::vector<std::shared_ptr<const owml::text::ReplySyntax>> syntaxes;
  syntaxes.push_back(owml::text::PortableFormatter(owml::fuzz::kJsonCalls, "", "", "a").Format(conversation).syntax);
  conversation.tools = {
      {"add", "Adds.", {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}}})"}}};
  for (const char* source : {owml::fuzz::kJsonCalls, owml::fuzz::kTaggedCalls}) {
    syntaxes.push_back(owml::text::ModelFormatter(source, "", "", "a").Format(conversation).syntax);
  }
  return syntaxes;
}

// The order of events, and the validity of arguments where no error is told.
void Check(const std::vector<ReplyEvent>& events) {
  std::vector<std::string> arguments;
  std::vector<bool> ended;
  bool error = false;
  for (const ReplyEvent& event : events) {
    const bool last = &event == &events.back();
    if ((event.kind == ReplyEvent::Kind::kCompleted) != last) std::abort();
    if (owml::text::ValidPrefix(event.text) < event.text.size()) std::abort();
    switch (event.kind) {
      case ReplyEvent::Kind::kCallStart:
        if (event.index != arguments.size() || event.id.empty()) std::abort();
        arguments.emplace_back();
        ended.push_back(false);
        break;
      case ReplyEvent::Kind::kArguments:
        if (event.index >= arguments.size() || ended[event.index]) std::abort();
        arguments[event.index] += event.text;
        break;
      case ReplyEvent::Kind::kCallEnd:
        if (event.index >= arguments.size() || ended[event.index]) std::abort();
        ended[event.index] = true;
        if (!error && !nlohmann::json::accept(arguments[event.index])) std::abort();
        break;
      case ReplyEvent::Kind::kError:
        if (error || event.text.empty()) std::abort();
        error = true;
        break;
      default:
        break;
    }
  }
  for (const bool end : ended) {
    if (!end) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto syntaxes = Syntaxes();
  if (size == 0) return 0;
  const size_t step = 1 + data[0] % 16;
  const std::string text = owml::text::Repaired(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  for (const auto& syntax : syntaxes) {
    const auto parser = syntax->CreateParser();
    std::vector<ReplyEvent> events;
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.size(), at + step);
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      parser->Append(std::string_view(text).substr(at, end - at), &events);
      at = end;
    }
    parser->Finish(&events);
    Check(events);
  }
  return 0;
}
