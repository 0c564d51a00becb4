// `owml tokenize`: a text as the tokens of a model, and tokens as text.
// The text comes from the command line, a file or standard input, and is taken as it is.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "json_output.h"
#include "terminal.h"
#include "token_view.h"
#include "utf8.h"

namespace owml::cli {
namespace {

struct TokenizeOptions {
  std::string tokenizer;
  std::string text;
  std::string file;
  std::string ids;
  bool add_special = true;
  bool only_ids = false;
  bool only_count = false;
};

std::string ReadText(const TokenizeOptions& options, bool given) {
  if (given && options.text != "-") return options.text;
  std::string text;
  std::string what = "standard input";
  if (!options.file.empty()) {
    what = options.file;
    std::ifstream file(options.file, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Failure("cannot read " + what, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  } else {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  RequireUtf8(text, what);
  return text;
}

// "1 2,3", with brackets as JSON has them.
std::vector<uint32_t> ReadIds(std::string list) {
  if (list == "-") list.assign(std::istreambuf_iterator<char>(std::cin), {});
  std::vector<uint32_t> ids;
  constexpr const char* kBetween = " \t\r\n,[]";
  for (size_t at = list.find_first_not_of(kBetween); at != std::string::npos;) {
    const size_t end = std::min(list.find_first_of(kBetween, at), list.size());
    uint32_t id = 0;
    const auto [stop, error] = std::from_chars(list.data() + at, list.data() + end, id);
    if (error != std::errc() || stop != list.data() + end) {
      UsageError("'" + list.substr(at, end - at) + "' in --decode is no token id");
    }
    ids.push_back(id);
    at = list.find_first_not_of(kBetween, end);
  }
  return ids;
}

int Decode(const TokenizeOptions& options, bool as_json) {
  const std::vector<uint32_t> ids = ReadIds(options.ids);
  const TokenizerView tokenizer(options.tokenizer);
  const std::string text = tokenizer.Decode(ids, !options.add_special);
  if (as_json) {
    PrintJson({{"text", text}, {"count", ids.size()}, {"tokens", TokensAsJson(tokenizer.Look(ids))}});
  } else {
    WriteText(stdout, text);
    if (UseColor(stdout)) std::fputc('\n', stdout);
  }
  return kOk;
}

int Tokenize(const TokenizeOptions& options, bool text_given, bool as_json) {
  const std::string text = ReadText(options, text_given);
  const TokenizerView tokenizer(options.tokenizer);
  const std::vector<uint32_t> ids = tokenizer.Encode(text, options.add_special);
  if (options.only_count) {
    if (as_json) {
      PrintJson({{"count", ids.size()}});
    } else {
      std::printf("%zu\n", ids.size());
    }
    return kOk;
  }
  if (options.only_ids && !as_json) {
    std::string line;
    for (const uint32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
    std::printf("%s\n", line.c_str());
    return kOk;
  }
  const std::vector<SeenToken> tokens = tokenizer.Look(ids);
  if (as_json) {
    PrintJson({{"count", ids.size()}, {"ids", ids}, {"tokens", TokensAsJson(tokens)}});
    return kOk;
  }
  if (UseColor(stdout)) {
    PrintShadedText(tokens);
    std::printf("\n\n");
  }
  PrintTokenTable(tokens);
  NoteCount(ids.size());
  return kOk;
}

}  // namespace

void AddTokenize(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* verb = app.add_subcommand("tokenize", "Show a text as the tokens of a model");
  verb->add_option("TOKENIZER", options->tokenizer, "A .gguf file, a tokenizer.json or a model folder")->required();
  CLI::Option* text = verb->add_option("TEXT", options->text, "The text; - or nothing reads standard input");
  CLI::Option* file = verb->add_option("-f,--file", options->file, "Read the text from a file")->excludes(text);
  CLI::Option* decode = verb->add_option("--decode", options->ids, "The text of these ids; - reads standard input")
                            ->excludes(text)
                            ->excludes(file);
  verb->add_flag(
      "--add-special,!--no-special", options->add_special,
      "Add the tokens that frame a text (default), or leave them out; with --decode, whether special tokens are shown");
  CLI::Option* ids = verb->add_flag("--ids", options->only_ids, "Only the ids, on one line")->excludes(decode);
  verb->add_flag("--count", options->only_count, "Only the number of tokens")->excludes(decode)->excludes(ids);
  verb->footer(
      "Each row shows an id, its place and its text. Places are bytes of the decoded text, which is the given text\n"
      "unless the tokenizer changes it (lower case, composed characters); a token that ends inside a character has no\n"
      "text, the one that completes the character has it whole.\n\n"
      "Examples:\n"
      "  owml tokenize model.gguf \"Hello, world!\"\n"
      "  owml tokenize tokenizer.json --file notes.txt --count\n"
      "  owml tokenize folder --no-special --ids < notes.txt\n"
      "  owml tokenize model.gguf --decode \"19556 28 905\"");
  verb->callback([options, text, decode, &globals, &action] {
    const bool text_given = text->count() > 0;
    const bool decoding = decode->count() > 0;
    action = [options, text_given, decoding, &globals] {
      return decoding ? Decode(*options, globals.json) : Tokenize(*options, text_given, globals.json);
    };
  });
}

}  // namespace owml::cli
