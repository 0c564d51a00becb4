// Rendering through llama.cpp's Jinja engine under Python's rules.
// Called by the portable formatter.
#include "text/template/jinja_template.h"

#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>
#include <json.h>

#include <exception>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/template/render_bounds.h"
#include "text/unicode/cases.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

// Letters beyond ASCII; of those whose upper case is several letters the usual single one stays.
std::string MapCase(const std::string& text, jinja::case_mapping mapping) {
  static const std::unordered_map<char32_t, char32_t> upper = [] {
    std::unordered_map<char32_t, char32_t> map;
    for (const CasePair& pair : Folds()) map.try_emplace(pair.to, pair.from);
    return map;
  }();
  std::string mapped;
  for (size_t at = 0; at < text.size();) {
    const Character character = DecodeCharacter(text, at);
    at += character.length;
    if (mapping == jinja::case_mapping::lower) {
      AppendLower(&mapped, character.code);
    } else {
      const auto found = upper.find(character.code);
      AppendCharacter(&mapped, found == upper.end() ? character.code : found->second);
    }
  }
  return mapped;
}

jinja::value Word(const std::string& text) { return jinja::mk_val<jinja::value_string>(text); }

// Roles stand between the brackets of control tokens in many templates.
void TrustRoles(jinja::context* context, const std::set<std::string>& words) {
  const jinja::value messages = context->get_val("messages");
  if (!jinja::is_val<jinja::value_array>(messages)) return;
  for (const jinja::value& message : messages->as_array()) {
    if (!jinja::is_val<jinja::value_object>(message)) continue;
    jinja::value none = jinja::mk_val<jinja::value_undefined>();
    const jinja::value role = message->at("role", none);
    if (!jinja::is_val<jinja::value_string>(role)) continue;
    const std::string word = role->as_string().str();
    if (words.count(word) > 0) message->insert(Word("role"), Word(word));
  }
}

}  // namespace

struct JinjaTemplate::Parsed {
  jinja::program program;
  std::string source;  // with the line ends that positions count
};

void CheckTemplateSize(const std::string& source, const std::string& label) {
  if (source.size() <= JinjaTemplate::kLongest) return;
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), label + ": its chat template has " +
                                                          std::to_string(source.size()) + " bytes; at most " +
                                                          std::to_string(JinjaTemplate::kLongest) + " are accepted");
}

std::string ReasonOf(const std::string& message) {
  static constexpr std::string_view kMark = "\nError: ";
  const size_t mark = message.rfind(kMark);
  std::string reason = mark == std::string::npos ? message : message.substr(mark + kMark.size());
  for (const char* prefix : {"Jinja Exception: ", "parser: Parser Error: ", "parser: ", "lexer: "}) {
    if (reason.rfind(prefix, 0) == 0) reason.erase(0, std::char_traits<char>::length(prefix));
  }
  while (!reason.empty() && reason.front() == '\n') reason.erase(0, 1);
  return reason;
}

JinjaTemplate::JinjaTemplate(const std::string& source, std::string label) : label_(std::move(label)) {
  static const bool set = (jinja::map_case = MapCase, true);
  static_cast<void>(set);
  CheckTemplateSize(source, label_);
  auto parsed = std::make_unique<Parsed>();
  RunBounded(source.size(), label_ + ": its chat template", [&] {
    try {
      const jinja::lexer_result tokens = jinja::lexer().tokenize(source);
      parsed->source = tokens.source;
      parsed->program = jinja::parse_from_tokens(tokens);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                  label_ + ": its chat template cannot be used: " + ReasonOf(error.what()));
    }
  });
  parsed_ = std::move(parsed);
}

JinjaTemplate::~JinjaTemplate() = default;

RenderedText JinjaTemplate::Render(const JinjaInput& input) const {
  RenderedText rendered;
  RunBounded(input.variables_json.size(), label_ + ": its chat template", [&] {
    jinja::context context(parsed_->source);
    context.python_rules = true;
    context.current_time = static_cast<std::time_t>(input.unix_seconds);
    context.utc_offset = input.utc_offset_seconds;
    try {
      jinja::global_from_json(context, common_json::parse(input.variables_json), /*mark_input=*/true);
      context.set_val("bos_token", Word(input.bos));
      context.set_val("eos_token", Word(input.eos));
      TrustRoles(&context, input.template_words);
      jinja::runtime runtime(context);
      const auto text = jinja::runtime::gather_string_parts(runtime.execute(parsed_->program));
      for (const auto& part : text->val_str.parts) rendered.push_back({part.val, !part.is_input});
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const jinja::not_implemented_exception& error) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                  label_ + ": its chat template needs what is not supported: " + ReasonOf(error.what()));
    } catch (const std::exception& error) {
      throw Error(E_INVALIDARG, label_ + ": its chat template refuses the conversation: " + ReasonOf(error.what()));
    }
  });
  return rendered;
}

}  // namespace owml::text
