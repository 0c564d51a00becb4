// Fuzz target: a chat template and a conversation on any bytes, the template up to the first zero byte.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "llama/llama_hooks.h"
#include "text/template/legacy_formatter.h"
#include "text/template/model_formatter.h"
#include "text/template/portable_formatter.h"
#include "text/unicode/utf8.h"

namespace {

using owml::text::Conversation;
using owml::text::ConversationMessage;

// Stands in the caller's texts only.
constexpr const char* kMark = "Zq7";

template <typename Format>
void Tolerate(const std::string& source, Format format) {
  try {
    const owml::text::FormattedPrompt prompt = format();
    if (source.find(kMark[0]) != std::string::npos || source.find('z') != std::string::npos) return;
    for (const auto& part : prompt.prompt) {
      if (part.from_template && part.text.find(kMark) != std::string::npos) std::abort();
    }
  } catch (const owml::Error& error) {
    if (error.what()[0] == '\0') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  owml::InstallLlamaHooks();
  const std::string input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\0'), input.size());
  const std::string source = owml::text::Repaired(input.substr(0, end));
  const std::string text = owml::text::Repaired(input.substr(std::min(end + 1, size)));
  Conversation conversation;
  for (const char* role : {"system", "user", "assistant", "user"}) {
    ConversationMessage message;
    message.role = role;
    message.content = kMark + text;
    conversation.messages.push_back(message);
  }
  conversation.add_generation_prompt = true;
  conversation.unix_seconds = 1700000000;
  Tolerate(source, [&] { return owml::text::PortableFormatter(source, "<s>", "</s>", "a").Format(conversation); });
  Tolerate(source, [&] { return owml::text::ModelFormatter(source, "<s>", "</s>", "a").Format(conversation); });
  Tolerate(source, [&] { return owml::text::LegacyFormatter(source, "a").Format(conversation); });
  return 0;
}
