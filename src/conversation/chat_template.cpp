// Rendering through llama.cpp's Jinja engine; the one file that includes its headers.
// Called by the conversation formatter.
#include "conversation/chat_template.h"

#include <jinja/caps.h>
#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>
#include <json.h>

#include <ctime>
#include <exception>

#include "base/error.h"
#include "base/sha256.h"
#include "conversation/large_stack.h"

namespace owml {
namespace {

// Templates are some kilobytes long; a nesting of brackets is followed by recursion.
constexpr size_t kMaxTemplate = 256 * 1024;
constexpr size_t kStackBytes = size_t{1} << 30;

jinja::value String(const std::string& text, bool from_template) {
  auto value = jinja::mk_val<jinja::value_string>(text);
  if (!from_template) value->mark_input();
  return value;
}

// A role is a word that templates put between the brackets of a control token ("<|user|>"), so a plain word counts as
// theirs.
bool IsPlainWord(const std::string& role) {
  return !role.empty() && role.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string::npos;
}

jinja::value TextParts(const std::vector<std::string>& texts) {
  auto parts = jinja::mk_val<jinja::value_array>();
  for (const std::string& text : texts) {
    auto part = jinja::mk_val<jinja::value_object>();
    part->insert("type", String("text", true));
    part->insert("text", String(text, false));
    parts->push_back(part);
  }
  return parts;
}

// Spec-open: text parts for a template that takes plain strings only are joined by a line break.
std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) joined += '\n';
    joined += text;
  }
  return joined;
}

// The moment whose local time, which is what strftime_now shows, is the wanted one.
std::time_t TemplateTime(const TemplateInput& input) {
  std::time_t moment = input.unix_seconds ? static_cast<std::time_t>(*input.unix_seconds) : std::time(nullptr);
  if (!input.unix_seconds && !input.utc_offset_minutes) return moment;
  moment += std::time_t{input.utc_offset_minutes.value_or(0)} * 60;
  std::tm local{};
  if (localtime_r(&moment, &local)) moment -= local.tm_gmtoff;
  return moment;
}

void SetValues(jinja::context* context, const TemplateInput& input) {
  for (const auto& [name, value] : input.values) {
    if (const auto* json = std::get_if<TemplateJson>(&value)) {
      common_json object = common_json::object();
      object[name] = common_json::parse(json->text);
      jinja::global_from_json(*context, object, /*mark_input=*/true);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      context->set_val(name, String(*text, false));
    } else if (const auto* truth = std::get_if<bool>(&value)) {
      context->set_val(name, jinja::mk_val<jinja::value_bool>(*truth));
    } else if (const auto* integer = std::get_if<int64_t>(&value)) {
      context->set_val(name, jinja::mk_val<jinja::value_int>(*integer));
    } else {
      context->set_val(name, jinja::mk_val<jinja::value_float>(std::get<double>(value)));
    }
  }
}

}  // namespace

ChatTemplate::ChatTemplate(std::string source, std::string bos, std::string eos, std::string label)
    : source_(std::move(source)),
      bos_(std::move(bos)),
      eos_(std::move(eos)),
      label_(std::move(label)),
      sha256_(Sha256Hex(source_)) {}

const ChatTemplate::Traits& ChatTemplate::FindTraits() const {
  std::call_once(traits_once_, [this] {
    jinja::program program = jinja::parse_from_tokens(jinja::lexer().tokenize(source_));
    const jinja::caps found = jinja::caps_get(program);
    traits_ = {found.supports_string_content, found.supports_typed_content};
  });
  return traits_;
}

std::vector<PromptPart> ChatTemplate::Render(const TemplateInput& input) const {
  if (source_.size() > kMaxTemplate) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), label_ + ": its chat template has " +
                                                            std::to_string(source_.size()) + " bytes; at most " +
                                                            std::to_string(kMaxTemplate) + " are accepted");
  }
  std::vector<PromptPart> parts;
  // The parsed template dies on the same stack, since its end recurses as deep as its birth.
  RunOnLargeStack(kStackBytes, [&] { parts = RenderHere(input); });
  return parts;
}

std::vector<PromptPart> ChatTemplate::RenderHere(const TemplateInput& input) const {
  const auto unusable = [this](const std::string& reason) {
    return Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), label_ + ": its chat template cannot be used: " + reason);
  };
  jinja::program program;
  std::string source;
  Traits traits;
  try {
    auto tokens = jinja::lexer().tokenize(source_);
    source = tokens.source;
    program = jinja::parse_from_tokens(tokens);
    traits = FindTraits();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw unusable(error.what());
  }

  jinja::context context(source);
  context.current_time = TemplateTime(input);
  SetValues(&context, input);
  auto messages = jinja::mk_val<jinja::value_array>();
  for (const TemplateMessage& message : input.messages) {
    auto object = jinja::mk_val<jinja::value_object>();
    object->insert("role", String(message.role, IsPlainWord(message.role)));
    if (message.text_parts && traits.takes_parts) {
      object->insert("content", TextParts(*message.text_parts));
    } else {
      const std::string text = message.text_parts ? Joined(*message.text_parts) : message.content;
      object->insert("content", traits.takes_strings ? String(text, false) : TextParts({text}));
    }
    if (message.reasoning) object->insert("reasoning_content", String(*message.reasoning, false));
    messages->push_back(object);
  }
  context.set_val("messages", messages);
  context.set_val("bos_token", String(bos_, true));
  context.set_val("eos_token", String(eos_, true));
  context.set_val("add_generation_prompt", jinja::mk_val<jinja::value_bool>(input.add_generation_prompt));
  if (input.enable_thinking)
    context.set_val("enable_thinking", jinja::mk_val<jinja::value_bool>(*input.enable_thinking));

  try {
    jinja::runtime runtime(context);
    const auto text = jinja::runtime::gather_string_parts(runtime.execute(program))->as_string();
    std::vector<PromptPart> parts;
    for (const auto& part : text.parts) parts.push_back({part.val, !part.is_input});
    return parts;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const jinja::not_implemented_exception& error) {
    throw unusable(error.what());
  } catch (const std::exception& error) {
    throw Error(E_INVALIDARG, label_ + ": its chat template refuses the conversation: " + error.what());
  }
}

}  // namespace owml
