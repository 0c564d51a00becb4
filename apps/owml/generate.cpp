// `owml generate`: plain continuation of a text by a language model.
// The text alone goes to standard output, as it comes.
#include <cstdio>
#include <memory>
#include <openwinml/strings.hpp>

#include "commands.h"
#include "conversation_file.h"
#include "failure.h"
#include "generation_options.h"
#include "interrupt_source.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

// Constraints are made from formatted conversations; this one only carries what is asked of the text.
ComPtr<IWinMLTokenConstraint> MakeConstraint(const TextSession& session, const ShapeOptions& shape) {
  if (!shape.any()) return nullptr;
  ComPtr<IWinMLStructuredConversationFormatter> formatter;
  ComPtr<IWinMLTokenizerConstraintFactory> factory;
  if (FAILED(session.tokenizer()->QueryInterface(IID_PPV_ARGS(formatter.GetAddressOf()))) ||
      FAILED(session.tokenizer()->QueryInterface(IID_PPV_ARGS(factory.GetAddressOf())))) {
    throw Failure("the model carries no chat template, which constraints are made with", E_NOINTERFACE);
  }
  Json request = {{"messages", {{{"role", "user"}, {"content", "continue"}}}}, {"add_generation_prompt", false}};
  AddShape(shape, true, &request);
  ConversationFile conversation(request.dump(), "the request");
  ComPtr<IWinMLConversationFormatResult> formatted;
  ComPtr<IWinMLTokenConstraint> constraint;
  Check(formatter->FormatConversation(&conversation.request(), formatted.GetAddressOf()), "reading the constraint");
  Check(factory->CreateConstraint(formatted.Get(), constraint.GetAddressOf()), "making the constraint");
  return constraint;
}

ComPtr<IWinMLTextGenerationPullStream> Start(const TextSession& session, const std::vector<uint32_t>& prompt,
                                             IWinMLTokenConstraint* constraint, IWinMLCancellationSource* source) {
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const UINT32 count = static_cast<UINT32>(prompt.size());
  HRESULT result = S_OK;
  if (constraint) {
    ComPtr<IWinMLTextGenerationConstraintSession> constrained;
    Check(session.session()->QueryInterface(IID_PPV_ARGS(constrained.GetAddressOf())), "starting");
    result = constrained->GenerateTokensWithConstraint(count, prompt.data(), constraint, session.options(), source,
                                                       stream.GetAddressOf());
  } else {
    result = session.session()->GenerateTokens(count, prompt.data(), session.options(), source, stream.GetAddressOf());
  }
  CheckStart(result, prompt.size(), session.capacity(), "starting");
  return stream;
}

int Generate(const GenerationOptions& options, bool as_json) {
  const std::string prompt = ReadPrompt(options.prompt);
  const TextSession session(options.model, options.stage, options.sampling, options.lookup);
  const ComPtr<IWinMLTokenConstraint> constraint = MakeConstraint(session, options.shape);
  const std::vector<uint32_t> tokens = session.Encode(prompt);
  InterruptScope interrupts;
  InterruptSource source;
  GenerationStats stats;
  stats.prompt_tokens = tokens.size();
  std::string text;
  AnswerClock clock;
  const auto stream = Start(session, tokens, constraint.Get(), &source);
  while (true) {
    auto status = WINML_TEXT_GENERATION_READ_STATUS_COMPLETED;
    UINT32 token = 0;
    LPCWSTR fragment = nullptr;
    Check(stream->ReadNext(&status, &token, &fragment), "generating");
    if (status == WINML_TEXT_GENERATION_READ_STATUS_COMPLETED) break;
    clock.Piece();
    ++stats.generated_tokens;
    const std::string piece = openwinml::ToUtf8(fragment);
    text += piece;
    if (!as_json) WriteText(stdout, piece);
  }
  clock.Stop(&stats);
  ComPtr<IWinMLTextGenerationResult> result;
  Check(stream->GetResult(result.GetAddressOf()), "reading the result");
  ReadTextResult(result.Get(), &stats);
  Check(stream->Close(), "closing the stream");
  if (as_json) {
    PrintJson({{"text", text},
               {"finishReason", stats.finish},
               {"promptTokens", stats.prompt_tokens},
               {"generatedTokens", stats.generated_tokens},
               {"promptSeconds", stats.prompt_seconds},
               {"generationSeconds", stats.generation_seconds},
               {"memoryBytes", ResidentBytes()}});
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
      "  owml generate model.gguf - --temperature 0.8 --seed 7 < story.txt\n"
      "  owml generate model.gguf \"Ada was born in \" --regex \"1[0-9]{3}\"");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Generate(*options, globals.json); }; });
}

}  // namespace owml::cli
