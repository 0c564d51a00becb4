// The command `owml`: parses the command line, runs one verb, turns failures into a sentence and an exit code.
// A client of the public API like any other program.
#include <openwinml/diagnostics.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"
#include "commands.h"
#include "failure.h"
#include "json_output.h"
#include "terminal.h"
#include "utf8.h"

namespace owml::cli {
namespace {

std::string VersionText() {
  return std::string("owml ") + OwmlGetVersionString() + "\ncpu: " + CpuDescription() +
         "\nusable threads: " + std::to_string(UsableCpuCount());
}

int Report(const std::string& sentence, HRESULT code, int exit_code, bool json) {
  if (json) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08X", static_cast<unsigned>(code));
    PrintJson({{"error", {{"message", sentence}, {"hresult", text}}}});
  }
  PrintError(sentence);
  return exit_code;
}

bool HasVerb(const CLI::App& app, const std::string& name) {
  const std::vector<const CLI::App*> verbs = app.get_subcommands(nullptr);
  return std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* verb) { return verb->get_name() == name; });
}

// CLI11 says only that a verb is missing when it does not know the one given.
void RequireKnownVerb(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    if (!HasVerb(app, argv[i])) UsageError(std::string("there is no verb '") + argv[i] + "'; --help lists them");
    return;
  }
}

// A result that could not be written is a failure: a full disk must not look like success.
int FlushOutput(int exit_code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return exit_code;
  PrintError("cannot write to standard output");
  return kFailed;
}

int Main(int argc, char** argv) {
  CLI::App app("Run AI models on this machine: ONNX and GGUF files, through the OpenWinML runtime.", "owml");
  app.footer(
      "Examples:\n"
      "  owml inspect model.onnx                      what a file holds\n"
      "  owml run model.onnx --dim batch=1            run a network on random or given inputs\n"
      "  owml chat model.gguf                         talk with a language model\n"
      "  owml chat model.gguf \"Why is the sky blue?\"  one answer, on standard output\n"
      "  owml tokenize model.gguf \"Hello\"             a text as tokens\n"
      "  owml template model.gguf chat.json           a conversation as the model reads it\n"
      "  owml bench model.gguf -p 512 -n 128          tokens a second\n"
      "  owml quantize big.gguf small.gguf Q4_K_M     the same model in fewer bits\n\n"
      "Environment: OWML_LOG=error|warning|info|debug|trace, OWML_ENGINE=auto|llama|native, NO_COLOR.\n"
      "Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.");
  app.require_subcommand(1);
  app.set_version_flag("--version", VersionText());
  app.fallthrough();
  Globals globals;
  app.add_flag("--json", globals.json, "Print results as JSON on standard output");
  app.add_flag("--no-color", globals.no_color, "No colours, even on a terminal");
  Action action;
  AddInspect(app, globals, action);
  AddRun(app, globals, action);
  AddGenerate(app, globals, action);
  AddChat(app, globals, action);
  AddBench(app, globals, action);
  AddQuantize(app, globals, action);
  AddCache(app, globals, action);
  AddTokenize(app, globals, action);
  AddTemplate(app, globals, action);
  AddCompletion(app, globals, action);
  try {
    for (int i = 1; i < argc; ++i) RequireUtf8(argv[i], "argument " + std::to_string(i));
    RequireKnownVerb(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? FlushOutput(kOk) : kUsage;
  } catch (const Failure& failure) {
    PrintError(failure.what());
    return kUsage;
  }
  if (globals.no_color) SetColor(false);
  try {
    return FlushOutput(action());
  } catch (const Failure& failure) {
    return Report(failure.what(), failure.code(), failure.exit_code(), globals.json);
  } catch (const Error& error) {
    return Report(error.what(), error.code(), kFailed, globals.json);
  } catch (const std::bad_alloc&) {
    return Report("out of memory", E_OUTOFMEMORY, kFailed, globals.json);
  } catch (const std::exception& error) {
    return Report(error.what(), E_FAIL, kFailed, globals.json);
  }
}

}  // namespace
}  // namespace owml::cli

int main(int argc, char** argv) { return owml::cli::Main(argc, argv); }
