// `owml chat`: a conversation with a language model, or one answer when a prompt is given.
// Answers go to standard output, everything else to standard error.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "chat_conversation.h"
#include "commands.h"
#include "failure.h"
#include "generation_options.h"
#include "interrupt_source.h"
#include "json_output.h"
#include "line_reader.h"
#include "terminal.h"
#include "utf8.h"

namespace owml::cli {
namespace {

constexpr const char* kCommands = "/reset, /save FILE, /load FILE, /result TEXT and /exit";

struct ChatOptions {
  GenerationOptions generation;
  std::string system;
  std::string tools_file;
  std::string tool_choice;
  std::string transcript;
  std::string image;
};

// What goes with every turn.
Json RequestOf(const ChatOptions& options) {
  Json request = Json::object();
  if (!options.tools_file.empty()) {
    request["tools"] = ReadJsonFile(options.tools_file, "--tools");
    if (!options.tool_choice.empty()) request["tool_choice"] = options.tool_choice;
  }
  AddShape(options.generation.shape, false, &request);
  return request;
}

class Chat {
 public:
  Chat(const ChatOptions& options, bool as_json)
      : options_(options),
        as_json_(as_json),
        session_(options.generation.model, options.generation.stage, options.generation.sampling,
                 options.generation.lookup),
        conversation_(session_, RequestOf(options), options.system) {
    std::error_code ignored;
    if (!options.transcript.empty() && std::filesystem::exists(options.transcript, ignored)) {
      conversation_.Load(options.transcript);
    }
  }

  int Interactive() {
    InterruptScope interrupts;
    LineReader lines;
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    Note(Style::kDim, session_.model().EngineText());
    if (terminal) {
      Note(Style::kDim, "/reset starts over, /exit or Ctrl-D leaves, Ctrl-C stops an answer");
      Note(Style::kDim, "/save FILE and /load FILE keep the conversation, /result TEXT answers a call");
    }
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

  int Once(const std::string& question) {
    InterruptScope interrupts;
    Answer("user", question);
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  // One line of an interactive chat.
  void Take(const std::string& line) {
    RequireUtf8(line, "the line");
    if (line.empty()) return;
    if (line.front() != '/') {
      Answer("user", line);
      return;
    }
    const size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (command == "/reset" && rest.empty()) {
      conversation_.Restart();
      Note(Style::kDim, "[new conversation]");
    } else if (command == "/save" && !rest.empty()) {
      conversation_.Save(rest);
      Note(Style::kDim, "[saved]");
    } else if (command == "/load" && !rest.empty()) {
      conversation_.Load(rest);
      Note(Style::kDim, "[loaded]");
    } else if (command == "/result" && !rest.empty()) {
      Answer("tool", rest);
    } else {
      throw Failure("unknown command " + OneLine(line, 40) + "; there are " + kCommands, E_INVALIDARG);
    }
  }

  void Answer(const std::string& role, const std::string& text) {
    const ChatAnswer answer = conversation_.Answer(role, text, &source_, [&](const std::string& piece) {
      if (!as_json_) WriteText(stdout, piece);
    });
    as_json_ ? PrintAsJson(answer) : PrintRest(answer);
    if (options_.generation.stats) PrintStats(answer.stats, session_);
    if (!options_.transcript.empty()) conversation_.Save(options_.transcript);
  }

  static void PrintAsJson(const ChatAnswer& answer) {
    Json report = {{"content", answer.content}, {"finishReason", answer.stats.finish}};
    if (!answer.reasoning.empty()) report["reasoning"] = answer.reasoning;
    if (!answer.tool_calls.empty()) report["toolCalls"] = answer.tool_calls;
    report["promptTokens"] = answer.stats.prompt_tokens;
    report["cachedTokens"] = answer.stats.cached_tokens;
    report["completionTokens"] = answer.stats.generated_tokens;
    report["promptSeconds"] = answer.stats.prompt_seconds;
    report["generationSeconds"] = answer.stats.generation_seconds;
    report["memoryBytes"] = ResidentBytes();
    PrintJson(report);
  }

  // The content is there already.
  static void PrintRest(const ChatAnswer& answer) {
    if (!answer.content.empty() || answer.tool_calls.empty()) WriteText(stdout, "\n");
    for (const Json& call : answer.tool_calls) {
      const Json& function = call["function"];
      WriteText(stdout,
                "call " + function["name"].get<std::string>() + " " + function["arguments"].get<std::string>() + "\n");
    }
    PrintFinish(answer.stats);
  }

  const ChatOptions& options_;
  const bool as_json_;
  TextSession session_;
  ChatConversation conversation_;
  InterruptSource source_;
};

}  // namespace

void AddChat(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<ChatOptions>();
  CLI::App* verb = app.add_subcommand("chat", "Talk with a language model");
  AddGenerationOptions(*verb, options->generation);
  CLI::Option* prompt = verb->add_option("PROMPT", options->generation.prompt,
                                         "One question, one answer; - reads standard input; none = interactive");
  verb->add_option("-s,--system", options->system, "System message")->envname("OWML_SYSTEM");
  CLI::Option* tools =
      verb->add_option("--tools", options->tools_file, "A JSON list of functions that the model may call");
  verb->add_option("--tool-choice", options->tool_choice, "auto, none or required")
      ->check(CLI::IsMember({"auto", "none", "required"}))
      ->needs(tools);
  verb->add_option("--transcript", options->transcript, "Continue the conversation in this file, and keep it there");
  verb->add_option("--image", options->image, "An image for the model to see");
  verb->footer(
      "Examples:\n"
      "  owml chat model.gguf\n"
      "  owml chat model.gguf \"Name three rivers.\" > rivers.txt\n"
      "  owml chat model.gguf \"Describe Ada Lovelace.\" --json-schema person.json\n"
      "  git diff | owml chat model.gguf - --system \"Summarise this change.\"");
  verb->callback([options, prompt, &globals, &action] {
    const bool once = prompt->count() > 0;
    action = [options, once, &globals] {
      if (!options->image.empty()) {
        throw Failure("images are not supported: the language models of this build take text only",
                      HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
      }
      const std::string question = once ? ReadPrompt(options->generation.prompt) : std::string();
      Chat chat(*options, globals.json);
      return once ? chat.Once(question) : chat.Interactive();
    };
  });
}

}  // namespace owml::cli
