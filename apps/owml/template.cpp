// `owml template`: a conversation as the model reads it, by the model's own template.
// The text goes to standard output; control tokens are marked there on a terminal, and in the table and JSON anywhere.
#include <WinMLConversation.h>
#include <fmt/format.h>
#include <objbase.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <openwinml/strings.hpp>

#include "commands.h"
#include "conversation_file.h"
#include "failure.h"
#include "json_output.h"
#include "terminal.h"
#include "token_view.h"
#include "utf8.h"

namespace owml::cli {
namespace {

using Microsoft::WRL::ComPtr;

struct TemplateOptions {
  std::string tokenizer;
  std::string conversation;
  bool no_generation_prompt = false;
  bool table = false;
};

std::string ReadConversation(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Failure("cannot read " + path, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  }
  RequireUtf8(text, path == "-" ? "standard input" : path);
  return text;
}

// What a result says beside its tokens.
class FormattedView {
 public:
  explicit FormattedView(ComPtr<IWinMLConversationFormatResult> result) : result_(std::move(result)) {}

  std::vector<uint32_t> Tokens() const {
    UINT32 count = 0;
    UINT32* ids = nullptr;
    Check(result_->GetTokenIds(&count, &ids), "reading the tokens");
    std::vector<uint32_t> tokens(ids, ids + count);
    CoTaskMemFree(ids);
    return tokens;
  }

  std::string GenerationPrompt() const {
    LPCWSTR text = nullptr;
    Check(result_->GetGenerationPrompt(&text), "reading the generation prompt");
    return Text(text);
  }

  Json Identity() const {
    LPCWSTR identity = nullptr;
    UINT32 version = 0;
    Check(result_->GetImplementationIdentity(&identity, &version), "reading the identity");
    return {{"name", Text(identity)}, {"version", version}};
  }

  Json Stops() const {
    UINT32 count = 0;
    Check(result_->GetAdditionalStopCount(&count), "reading the stops");
    Json stops = Json::array();
    for (UINT32 i = 0; i < count; ++i) {
      LPCWSTR stop = nullptr;
      Check(result_->GetAdditionalStop(i, &stop), "reading the stops");
      stops.push_back(Text(stop));
    }
    return stops;
  }

  Json Capabilities() const {
    auto flags = WINML_CONVERSATION_PARSER_CAPABILITY_NONE;
    Check(result_->GetParserCapabilities(&flags), "reading the parser's capabilities");
    static constexpr std::pair<WINML_CONVERSATION_PARSER_CAPABILITIES, const char*> kNames[] = {
        {WINML_CONVERSATION_PARSER_CAPABILITY_CONTENT, "content"},
        {WINML_CONVERSATION_PARSER_CAPABILITY_REASONING, "reasoning"},
        {WINML_CONVERSATION_PARSER_CAPABILITY_TOOL_CALLS, "toolCalls"},
        {WINML_CONVERSATION_PARSER_CAPABILITY_PARALLEL_TOOL_CALLS, "parallelToolCalls"}};
    Json names = Json::array();
    for (const auto& [flag, name] : kNames) {
      if (flags & flag) names.push_back(name);
    }
    return names;
  }

  Json Constraint() const {
    auto presence = WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    LPCWSTR syntax = nullptr;
    LPCWSTR value = nullptr;
    UINT32 version = 0;
    BOOL lazy = FALSE;
    Check(result_->GetConstraint(&presence, &syntax, &version, &lazy, &value), "reading the constraint");
    if (presence == WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE) return nullptr;
    return {{"syntax", Text(syntax)}, {"version", version}, {"lazy", lazy != FALSE}, {"value", Text(value)}};
  }

  Json Triggers() const {
    static constexpr const char* kTypes[] = {"token", "text", "pattern", "fullPattern"};
    UINT32 count = 0;
    Check(result_->GetConstraintTriggerCount(&count), "reading the triggers");
    Json triggers = Json::array();
    for (UINT32 i = 0; i < count; ++i) {
      auto type = WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE_TOKEN;
      BOOL has_token = FALSE;
      UINT32 token = 0;
      LPCWSTR value = nullptr;
      Check(result_->GetConstraintTrigger(i, &type, &has_token, &token, &value), "reading the triggers");
      const auto number = static_cast<size_t>(type);
      triggers.push_back({{"type", number < std::size(kTypes) ? kTypes[number] : "unknown"},
                          {"tokenId", has_token ? Json(token) : Json()},
                          {"value", Text(value)}});
    }
    return triggers;
  }

  Json PreservedTokens() const {
    UINT32 count = 0;
    Check(result_->GetPreservedTokenCount(&count), "reading the preserved tokens");
    Json tokens = Json::array();
    for (UINT32 i = 0; i < count; ++i) {
      BOOL has_token = FALSE;
      UINT32 token = 0;
      LPCWSTR text = nullptr;
      Check(result_->GetPreservedToken(i, &has_token, &token, &text), "reading the preserved tokens");
      tokens.push_back({{"tokenId", has_token ? Json(token) : Json()}, {"text", Text(text)}});
    }
    return tokens;
  }

 private:
  static std::string Text(LPCWSTR text) { return text ? openwinml::ToUtf8(text) : std::string(); }

  ComPtr<IWinMLConversationFormatResult> result_;
};

int Render(const TemplateOptions& options, bool as_json) {
  ConversationFile file(ReadConversation(options.conversation),
                        options.conversation == "-" ? "standard input" : options.conversation);
  if (options.no_generation_prompt) file.request().addGenerationPrompt = FALSE;
  const TokenizerView tokenizer(options.tokenizer);
  ComPtr<IWinMLStructuredConversationFormatter> formatter;
  if (FAILED(tokenizer.get()->QueryInterface(IID_PPV_ARGS(formatter.GetAddressOf())))) {
    throw Failure(options.tokenizer + " has no chat template", E_NOINTERFACE);
  }
  ComPtr<IWinMLConversationFormatResult> result;
  Check(formatter->FormatConversation(&file.request(), result.GetAddressOf()), "applying the chat template");
  const FormattedView view(result);
  const std::vector<uint32_t> ids = view.Tokens();
  const std::vector<SeenToken> tokens = tokenizer.Look(ids);
  if (as_json) {
    PrintJson({{"text", tokenizer.Decode(ids, false)},
               {"count", ids.size()},
               {"tokens", TokensAsJson(tokens)},
               {"generationPrompt", view.GenerationPrompt()},
               {"identity", view.Identity()},
               {"additionalStops", view.Stops()},
               {"parserCapabilities", view.Capabilities()},
               {"constraint", view.Constraint()},
               {"constraintTriggers", view.Triggers()},
               {"preservedTokens", view.PreservedTokens()}});
    return kOk;
  }
  if (options.table) {
    PrintTokenTable(tokens);
  } else if (UseColor(stdout)) {
    PrintShadedText(tokens);
    std::fputc('\n', stdout);
  } else {
    WriteText(stdout, tokenizer.Decode(ids, false));
  }
  NoteCount(ids.size());
  return kOk;
}

}  // namespace

void AddTemplate(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<TemplateOptions>();
  CLI::App* verb = app.add_subcommand("template", "Show a conversation as a model reads it");
  verb->add_option("TOKENIZER", options->tokenizer, "A .gguf file, a tokenizer.json or a model folder")->required();
  verb->add_option("CONVERSATION", options->conversation, "A JSON file; - reads standard input")->required();
  verb->add_flag("--no-generation-prompt", options->no_generation_prompt, "Do not open the assistant's turn");
  verb->add_flag("--tokens", options->table, "A row for each token in place of the text");
  verb->footer(
      "The file holds a list of messages, or an object with 'messages' and any of: tools, tool_choice,\n"
      "parallel_tool_calls, response_format, chat_template_kwargs, enable_thinking, continuation, formatter_mode,\n"
      "add_generation_prompt, timestamp, time_zone_offset_minutes, extensions. Other names are refused.\n\n"
      "Examples:\n"
      "  echo '[{\"role\": \"user\", \"content\": \"Hi\"}]' | owml template model.gguf -\n"
      "  owml template model.gguf chat.json --tokens\n"
      "  owml template folder chat.json --json");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Render(*options, globals.json); }; });
}

}  // namespace owml::cli
