// `owml completion`: a script that teaches a shell the verbs and options of `owml`.
// Made from the definitions of the command line itself, so that it cannot fall behind them.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "failure.h"

namespace owml::cli {
namespace {

struct Verb {
  std::string name;
  std::string description;
  std::vector<const CLI::Option*> options;
};

std::vector<const CLI::Option*> NamedOptions(const CLI::App& app) {
  std::vector<const CLI::Option*> named;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && !option->get_lnames().empty()) named.push_back(option);
  }
  return named;
}

std::vector<Verb> VerbsOf(const CLI::App& app) {
  std::vector<Verb> verbs;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    verbs.push_back({verb->get_name(), verb->get_description(), NamedOptions(*verb)});
    for (const CLI::Option* option : NamedOptions(app)) {
      if (option->get_lnames().front() != "help") verbs.back().options.push_back(option);
    }
  }
  return verbs;
}

// For text between single quotes in a shell.
std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + quoted + "'";
}

std::string LongNames(const std::vector<const CLI::Option*>& options) {
  std::string names;
  for (const CLI::Option* option : options) names += (names.empty() ? "--" : " --") + option->get_lnames().front();
  return names;
}

std::string Names(const std::vector<Verb>& verbs) {
  std::string names;
  for (const Verb& verb : verbs) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

// Options of the verb after a dash, else files; the first word is a verb.
std::string Bash(const std::vector<Verb>& verbs, const CLI::App& app) {
  std::string script = "_owml() {\n  local word=${COMP_WORDS[COMP_CWORD]} options\n  case ${COMP_WORDS[1]} in\n";
  for (const Verb& verb : verbs) script += fmt::format("    {}) options='{}' ;;\n", verb.name, LongNames(verb.options));
  script += fmt::format("    *) options='{}' ;;\n  esac\n", LongNames(NamedOptions(app)));
  script += "  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n";
  script +=
      fmt::format("  elif ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n", Names(verbs));
  return script + "  else\n    COMPREPLY=()\n  fi\n}\ncomplete -o default -F _owml owml\n";
}

std::string Zsh(const std::vector<Verb>& verbs) {
  std::string script = "#compdef owml\n_owml() {\n  local -a verbs options\n  verbs=(\n";
  for (const Verb& verb : verbs) script += "    " + Quoted(verb.name + ":" + verb.description) + "\n";
  script += "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n";
  for (const Verb& verb : verbs) {
    script += fmt::format("    {}) options=({}) ;;\n", verb.name, LongNames(verb.options));
  }
  script += "  esac\n  if [[ $words[CURRENT] == -* ]]; then\n    compadd -- $options\n  else\n    _files\n  fi\n}\n";
  return script + "compdef _owml owml\n";
}

std::string Fish(const std::vector<Verb>& verbs) {
  std::string script = fmt::format("set -l verbs {}\n", Names(verbs));
  for (const Verb& verb : verbs) {
    script += fmt::format("complete -c owml -n \"not __fish_seen_subcommand_from $verbs\" -f -a {} -d {}\n", verb.name,
                          Quoted(verb.description));
    for (const CLI::Option* option : verb.options) {
      script += fmt::format("complete -c owml -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n", verb.name,
                            option->get_lnames().front(), option->get_items_expected_max() > 0 ? " -r" : "",
                            Quoted(option->get_description()));
    }
  }
  return script;
}

int PrintScript(const CLI::App& app, const std::string& shell) {
  const std::vector<Verb> verbs = VerbsOf(app);
  const std::string script = shell == "bash" ? Bash(verbs, app) : shell == "zsh" ? Zsh(verbs) : Fish(verbs);
  std::fputs(script.c_str(), stdout);
  return kOk;
}

}  // namespace

void AddCompletion(CLI::App& app, const Globals&, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print a script that completes verbs and options in a shell");
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->footer(
      "Examples:\n"
      "  source <(owml completion bash)\n"
      "  owml completion zsh > \"${fpath[1]}/_owml\"\n"
      "  owml completion fish > ~/.config/fish/completions/owml.fish");
  verb->callback([shell, &app, &action] { action = [shell, &app] { return PrintScript(app, *shell); }; });
}

}  // namespace owml::cli
