// The verbs of `owml`: each adds its options to the command line and stores what to run.
// Called by main() in the order in which --help lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace owml::cli {

// Options that every verb has.
struct Globals {
  bool json = false;
  bool no_color = false;
};

// What main() runs after parsing; returns the exit code.
using Action = std::function<int()>;

void AddInspect(CLI::App& app, const Globals& globals, Action& action);
void AddRun(CLI::App& app, const Globals& globals, Action& action);
void AddGenerate(CLI::App& app, const Globals& globals, Action& action);
void AddChat(CLI::App& app, const Globals& globals, Action& action);
void AddBench(CLI::App& app, const Globals& globals, Action& action);
void AddQuantize(CLI::App& app, const Globals& globals, Action& action);
void AddCache(CLI::App& app, const Globals& globals, Action& action);
void AddTokenize(CLI::App& app, const Globals& globals, Action& action);
void AddTemplate(CLI::App& app, const Globals& globals, Action& action);
void AddCompletion(CLI::App& app, const Globals& globals, Action& action);

}  // namespace owml::cli
