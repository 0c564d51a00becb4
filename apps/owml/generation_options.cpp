// Options and reports shared by generate and chat.
// Ranges are checked by the command line before anything loads.
#include "generation_options.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "failure.h"
#include "stage_options.h"
#include "terminal.h"
#include "utf8.h"

namespace owml::cli {
namespace {

void AddSamplingOptions(CLI::App& verb, SamplingOptions& sampling) {
  verb.add_option("--temperature", sampling.temperature, "0 = always the likeliest token")
      ->check(CLI::Range(0.0f, 100.0f))
      ->envname("OWML_TEMPERATURE")
      ->capture_default_str();
  verb.add_option("--top-k", sampling.top_k, "Sample among the K likeliest; 0 = all")
      ->check(CLI::Range(0u, 1000000u))
      ->envname("OWML_TOP_K")
      ->capture_default_str();
  verb.add_option("--top-p", sampling.top_p, "Sample among the likeliest that make up this probability, above 0 to 1")
      ->check(CLI::Range(1e-6f, 1.0f))
      ->envname("OWML_TOP_P")
      ->capture_default_str();
  verb.add_option("--min-p", sampling.min_p, "Sample among those with at least this share of the likeliest, 0 to 1")
      ->check(CLI::Range(0.0f, 1.0f))
      ->envname("OWML_MIN_P")
      ->capture_default_str();
  verb.add_option("--repetition-penalty", sampling.repetition_penalty, "Above 1 makes tokens that occurred less likely")
      ->check(CLI::Range(1e-6f, 100.0f))
      ->envname("OWML_REPETITION_PENALTY")
      ->capture_default_str();
  verb.add_option("--repetition-window", sampling.repetition_window, "Tokens that it looks back; 0 = all")
      ->check(CLI::Range(0u, 100000000u))
      ->envname("OWML_REPETITION_WINDOW")
      ->capture_default_str();
  verb.add_option("--presence-penalty", sampling.presence_penalty, "Taken from tokens that the answer has")
      ->check(CLI::Range(-100.0f, 100.0f))
      ->envname("OWML_PRESENCE_PENALTY")
      ->capture_default_str();
  verb.add_option("--frequency-penalty", sampling.frequency_penalty, "The same for each time that it has them")
      ->check(CLI::Range(-100.0f, 100.0f))
      ->envname("OWML_FREQUENCY_PENALTY")
      ->capture_default_str();
  verb.add_option("--seed", sampling.seed, "Seed of sampling; 0 = another one each time")
      ->envname("OWML_SEED")
      ->capture_default_str();
}

}  // namespace

void AddGenerationOptions(CLI::App& verb, GenerationOptions& options) {
  verb.add_option("MODEL", options.model, "A .gguf file")->required();
  verb.add_option("-n,--max-tokens", options.sampling.max_tokens, "Most tokens of one answer")
      ->check(CLI::Range(1u, 100000000u))
      ->envname("OWML_MAX_TOKENS")
      ->capture_default_str();
  verb.add_option("-c,--context", options.stage.capacity, "Context length in tokens; 0 = the model's, at most 8192")
      ->check(CLI::Range(0u, 1048576u))
      ->envname("OWML_CONTEXT")
      ->capture_default_str();
  verb.add_flag("--gpu", options.stage.gpu, "Run on a GPU, where an engine offers one");
  AddStageOptions(verb, options.stage);
  AddSamplingOptions(verb, options.sampling);
  AddShapeOptions(verb, options.shape);
  verb.add_flag("--lookup", options.lookup, "Try tokens that followed the same words before, several at once");
  verb.add_flag("--stats", options.stats, "Print rates and counts on standard error")->envname("OWML_STATS");
}

std::string ReadPrompt(const std::string& argument) {
  if (argument.empty()) UsageError("the prompt is empty");
  if (argument != "-") return argument;
  std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) throw Failure("the prompt on standard input is empty", E_INVALIDARG);
  RequireUtf8(text, "the prompt on standard input");
  return text;
}

void PrintStats(const GenerationStats& stats, const TextSession& session) {
  auto rate = [](size_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; };
  std::string drafts;
  if (stats.draft_tokens) drafts = fmt::format(", {} of {} drafts right", stats.accepted_drafts, stats.draft_tokens);
  const std::string line = fmt::format(
      "prompt {} tokens ({} cached, {:.1f} tokens/s), answer {} tokens ({:.1f} tokens/s{}), first token {:.0f} ms, "
      "memory {}, context {}/{}",
      stats.prompt_tokens, stats.cached_tokens, rate(stats.prompt_tokens - stats.cached_tokens, stats.prompt_seconds),
      stats.generated_tokens, rate(stats.generated_tokens ? stats.generated_tokens - 1 : 0, stats.generation_seconds),
      drafts, stats.prompt_seconds * 1000, HumanBytes(ResidentBytes()), session.position(),
      session.capacity() ? std::to_string(session.capacity()) : "unlimited");
  Note(Style::kDim, line);
}

void PrintFinish(const GenerationStats& stats) {
  const std::string finish = stats.finish;
  std::string note;
  if (finish == "length") note = "[stopped at the token limit; --max-tokens N raises it]";
  if (finish == "context") note = "[stopped: the context is full; --context N makes it larger]";
  if (finish == "cancelled") note = "[cancelled]";
  if (!note.empty()) Note(Style::kYellow, note);
}

}  // namespace owml::cli
