// `owml chat`: a conversation with a language model, or one answer when a prompt is given.
// Answers go to standard output, everything else to standard error.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "failure.h"
#include "generation_options.h"
#include "interrupt.h"
#include "terminal.h"

namespace owml::cli {
namespace {

struct ChatOptions {
  GenerationOptions generation;
  std::string system;
};

class Chat {
 public:
  Chat(const ChatOptions& options, bool as_json)
      : options_(options),
        as_json_(as_json),
        session_(options.generation.model, options.generation.stage),
        sampler_(options.generation.sampler) {
    if (!session_.has_chat_template()) session_.EncodeConversation({});  // throws the sentence
    Restart();
  }

  void Restart() {
    messages_.clear();
    if (!options_.system.empty()) messages_.push_back({"system", options_.system});
  }

  // One turn. On failure or an empty cancelled answer the turn is taken back.
  void Answer(const std::string& question) {
    messages_.push_back({"user", question});
    std::string answer;
    GenerationStats stats;
    try {
      stats = session_.Generate(
          session_.EncodeConversation(messages_), sampler_, options_.generation.max_tokens,
          [&](const std::string& piece) {
            answer += piece;
            if (as_json_) return;
            std::fputs(piece.c_str(), stdout);
            std::fflush(stdout);
          },
          InterruptScope::Requested);
    } catch (...) {
      messages_.pop_back();
      throw;
    }
    if (as_json_) {
      const nlohmann::json report = {{"content", answer},
                                     {"finishReason", stats.finish},
                                     {"promptTokens", stats.prompt_tokens},
                                     {"cachedTokens", stats.prompt_tokens - stats.evaluated_tokens},
                                     {"completionTokens", stats.generated_tokens},
                                     {"promptSeconds", stats.prompt_seconds},
                                     {"generationSeconds", stats.generation_seconds}};
      std::printf("%s\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
      std::fflush(stdout);
    } else {
      std::printf("\n");
      std::fflush(stdout);
      PrintFinish(stats);
    }
    if (options_.generation.stats) PrintStats(stats, session_);
    if (answer.empty() && InterruptScope::Requested()) {
      messages_.pop_back();
    } else {
      messages_.push_back({"assistant", answer});
    }
  }

  int Interactive() {
    InterruptScope interrupts;
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    std::fprintf(stderr, "%s\n",
                 Styled(stderr, Style::kDim,
                        session_.model().EngineText() + "\n/reset starts over, /exit or Ctrl-D leaves, "
                                                        "Ctrl-C stops an answer")
                     .c_str());
    while (true) {
      InterruptScope::Clear();
      if (terminal) std::fprintf(stderr, "%s", Styled(stderr, Style::kCyan, "> ").c_str());
      std::string line;
      if (!std::getline(std::cin, line)) {
        if (terminal) std::fprintf(stderr, "\n");
        return InterruptScope::Requested() ? kInterrupted : kOk;
      }
      if (line == "/exit" || line == "/quit") return kOk;
      if (line == "/reset") {
        Restart();
        std::fprintf(stderr, "%s\n", Styled(stderr, Style::kDim, "[new conversation]").c_str());
        continue;
      }
      if (line.empty()) continue;
      if (line.front() == '/') {
        std::fprintf(stderr, "unknown command %s; there are /reset and /exit\n", line.c_str());
        continue;
      }
      try {
        Answer(line);
      } catch (const Failure& failure) {
        std::fprintf(stderr, "%s %s\n", Styled(stderr, Style::kRed, "owml:").c_str(), failure.what());
      }
    }
  }

  int Once(const std::string& question) {
    InterruptScope interrupts;
    Answer(question);
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  const ChatOptions& options_;
  const bool as_json_;
  LanguageSession session_;
  Sampler sampler_;
  std::vector<Message> messages_;
};

}  // namespace

void AddChat(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<ChatOptions>();
  CLI::App* verb = app.add_subcommand("chat", "Talk with a language model");
  AddGenerationOptions(*verb, options->generation);
  verb->add_option("PROMPT", options->generation.prompt,
                   "One question, one answer; - reads standard input; none = interactive");
  verb->add_option("-s,--system", options->system, "System message")->envname("OWML_SYSTEM");
  verb->footer(
      "Examples:\n"
      "  owml chat model.gguf\n"
      "  owml chat model.gguf \"Name three rivers.\" > rivers.txt\n"
      "  git diff | owml chat model.gguf - --system \"Summarise this change.\"");
  verb->callback([options, &globals, &action] {
    action = [options, &globals] {
      Chat chat(*options, globals.json);
      const std::string& prompt = options->generation.prompt;
      return prompt.empty() ? chat.Interactive() : chat.Once(ReadPrompt(prompt));
    };
  });
}

}  // namespace owml::cli
