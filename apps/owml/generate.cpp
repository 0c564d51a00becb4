// `owml generate`: plain continuation of a text by a language model.
// The text alone goes to standard output, as it comes.
#include <cstdio>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "generation_options.h"
#include "interrupt.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

int Generate(const GenerationOptions& options, bool as_json) {
  const std::string prompt = ReadPrompt(options.prompt);
  LanguageSession session(options.model, options.stage);
  Sampler sampler(options.sampler);
  InterruptScope interrupts;
  std::string text;
  const GenerationStats stats = session.Generate(
      session.Encode(prompt), sampler, options.max_tokens,
      [&](const std::string& piece) {
        text += piece;
        if (!as_json) WriteText(stdout, piece);
      },
      InterruptScope::Requested);
  if (as_json) {
    PrintJson({{"text", text},
               {"finishReason", stats.finish},
               {"promptTokens", stats.prompt_tokens},
               {"generatedTokens", stats.generated_tokens},
               {"promptSeconds", stats.prompt_seconds},
               {"generationSeconds", stats.generation_seconds}});
  } else {
    WriteText(stdout, "\n");
    PrintFinish(stats);
  }
  if (options.stats) PrintStats(stats, session);
  return InterruptScope::Requested() ? kInterrupted : kOk;
}

}  // namespace

void AddGenerate(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<GenerationOptions>();
  CLI::App* verb = app.add_subcommand("generate", "Continue a text");
  AddGenerationOptions(*verb, *options);
  verb->add_option("PROMPT", options->prompt, "The text to continue; - reads standard input")->required();
  verb->footer(
      "Examples:\n"
      "  owml generate model.gguf \"Once upon a time\" -n 100\n"
      "  owml generate model.gguf - --temperature 0.8 --seed 7 < story.txt");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Generate(*options, globals.json); }; });
}

}  // namespace owml::cli
