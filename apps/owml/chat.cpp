// `owml chat`: a conversation with a language model, or one answer when a prompt is given.
// Answers go to standard output, everything else to standard error.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "generation_options.h"
#include "interrupt.h"
#include "json_output.h"
#include "line_reader.h"
#include "terminal.h"
#include "utf8.h"

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
    session_.RequireChatTemplate();
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
            if (!as_json_) WriteText(stdout, piece);
          },
          InterruptScope::Requested);
    } catch (...) {
      messages_.pop_back();
      throw;
    }
    if (as_json_) {
      PrintJson({{"content", answer},
                 {"finishReason", stats.finish},
                 {"promptTokens", stats.prompt_tokens},
                 {"cachedTokens", stats.prompt_tokens - stats.evaluated_tokens},
                 {"completionTokens", stats.generated_tokens},
                 {"promptSeconds", stats.prompt_seconds},
                 {"generationSeconds", stats.generation_seconds}});
    } else {
      WriteText(stdout, "\n");
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
    LineReader lines;
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    Note(Style::kDim, session_.model().EngineText());
    if (terminal) Note(Style::kDim, "/reset starts over, /exit or Ctrl-D leaves, Ctrl-C stops an answer");
    while (true) {
      if (terminal) std::fprintf(stderr, "%s", Styled(stderr, Style::kCyan, "> ").c_str());
      std::string line;
      const LineReader::Result result = lines.Next(line);
      if (result != LineReader::Result::kLine) {
        if (terminal) std::fprintf(stderr, "\n");
        return result == LineReader::Result::kInterrupted ? kInterrupted : kOk;
      }
      if (line == "/exit" || line == "/quit") return kOk;
      try {
        Take(line);
      } catch (const Failure& failure) {
        PrintError(failure.what());
      }
      InterruptScope::Clear();  // it belonged to the answer
    }
  }

  // One line of an interactive chat.
  void Take(const std::string& line) {
    RequireUtf8(line, "the line");
    if (line.empty()) return;
    if (line == "/reset") {
      Restart();
      Note(Style::kDim, "[new conversation]");
    } else if (line.front() == '/') {
      throw Failure("unknown command " + OneLine(line, 40) + "; there are /reset and /exit", E_INVALIDARG);
    } else {
      Answer(line);
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
  CLI::Option* prompt = verb->add_option("PROMPT", options->generation.prompt,
                                         "One question, one answer; - reads standard input; none = interactive");
  verb->add_option("-s,--system", options->system, "System message")->envname("OWML_SYSTEM");
  verb->footer(
      "Examples:\n"
      "  owml chat model.gguf\n"
      "  owml chat model.gguf \"Name three rivers.\" > rivers.txt\n"
      "  git diff | owml chat model.gguf - --system \"Summarise this change.\"");
  verb->callback([options, prompt, &globals, &action] {
    const bool once = prompt->count() > 0;
    action = [options, once, &globals] {
      const std::string question = once ? ReadPrompt(options->generation.prompt) : std::string();
      Chat chat(*options, globals.json);
      return once ? chat.Once(question) : chat.Interactive();
    };
  });
}

}  // namespace owml::cli
