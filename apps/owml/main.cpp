// The command `owml`: parses the command line, runs one verb, turns failures into a sentence and an exit code.
// A client of the public API like any other program.
#include <openwinml/diagnostics.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "base/cpu_info.h"
#include "commands.h"
#include "failure.h"
#include "terminal.h"

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
    const nlohmann::json object = {{"error", {{"message", sentence}, {"hresult", text}}}};
    std::printf("%s\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  std::fprintf(stderr, "%s %s\n", Styled(stderr, Style::kRed, "owml:").c_str(), sentence.c_str());
  return exit_code;
}

int Main(int argc, char** argv) {
  CLI::App app("Run AI models on this machine: ONNX and GGUF files, through the OpenWinML runtime.", "owml");
  app.footer(
      "Examples:\n"
      "  owml inspect model.onnx                      what a file holds\n"
      "  owml run model.onnx --dim batch=1            run a network on random or given inputs\n"
      "  owml chat model.gguf                         talk with a language model\n"
      "  owml chat model.gguf \"Why is the sky blue?\"  one answer, on standard output\n"
      "  owml bench model.gguf -p 512 -n 128          tokens a second\n\n"
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kOk : kUsage;
  }
  if (globals.no_color) SetColor(false);
  try {
    return action();
  } catch (const Failure& failure) {
    return Report(failure.what(), failure.code(), failure.exit_code(), globals.json);
  } catch (const std::bad_alloc&) {
    return Report("out of memory", E_OUTOFMEMORY, kFailed, globals.json);
  } catch (const std::exception& error) {
    return Report(error.what(), E_FAIL, kFailed, globals.json);
  }
}

}  // namespace
}  // namespace owml::cli

int main(int argc, char** argv) { return owml::cli::Main(argc, argv); }
