// From a conversation to llama.cpp's chat formats and back to plain data.
// Called through the structured formatter.
#include "text/template/model_formatter.h"

#include <chat-host.h>
#include <chat.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "text/constraint/begun_grammar.h"
#include "text/constraint/json_schema.h"
#include "text/template/call_enforcement.h"
#include "text/template/chat_reply.h"
#include "text/template/conversation_json.h"
#include "text/template/jinja_template.h"
#include "text/template/marked_text.h"
#include "text/template/render_bounds.h"
#include "text/template/template_words.h"

namespace owml::text {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
// Analysing a template renders some dozens of made-up conversations.
constexpr size_t kAnalysisBytes = 256 * 1024;

std::string Field(const char* list, size_t index) { return list + ("[" + std::to_string(index) + "]"); }

common_chat_msg MessageOf(const ConversationMessage& message, bool object_arguments) {
  common_chat_msg result;
  result.role = message.role;
  result.content = message.content.value_or("");
  for (const ContentPart& part : message.parts) result.content_parts.push_back({part.type, part.text});
  result.reasoning_content = message.reasoning.value_or("");
  for (const ToolCall& call : message.tool_calls) {
    // What is no JSON object travels as a JSON string to templates that look into arguments.
    const bool quoted = object_arguments && !call.arguments_are_json;
    result.tool_calls.push_back({call.name, quoted ? ValueJson(call.arguments) : call.arguments, call.id});
  }
  result.tool_name = message.tool_name;
  result.tool_call_id = message.tool_call_id;
  return result;
}

ConstraintTrigger TriggerOf(const common_grammar_trigger& trigger) {
  ConstraintTrigger result;
  switch (trigger.type) {
    case COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN:
      result.kind = ConstraintTrigger::Kind::kToken;
      result.token_id = static_cast<uint32_t>(trigger.token);
      break;
    case COMMON_GRAMMAR_TRIGGER_TYPE_WORD:
      result.kind = ConstraintTrigger::Kind::kText;
      break;
    case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN:
      result.kind = ConstraintTrigger::Kind::kPattern;
      break;
    case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL:
      result.kind = ConstraintTrigger::Kind::kFullPattern;
      break;
  }
  result.value = trigger.value;
  return result;
}

std::string WithoutMarks(std::string text, const TextMarks& marks) {
  text.erase(std::remove_if(text.begin(), text.end(), [&](char c) { return c == marks.begin || c == marks.end; }),
             text.end());
  return text;
}

}  // namespace

struct ModelFormatter::Handlers {
  common_chat_templates_ptr templates;
  std::map<std::string, bool> abilities;
  std::string label;

  bool Can(const char* what) const {
    const auto found = abilities.find(what);
    return found != abilities.end() && found->second;
  }

  // One pass through llama.cpp's handlers, with bounds and with failures as sentences. JSON Schemas go into the grammar
  // by way of our own compiler; those that it takes are added to `compiled`. One that it refuses fails the pass when
  // `strict`, and is left open otherwise.
  common_chat_params Apply(const common_chat_templates_inputs& inputs, common_chat_host host, size_t bytes, bool strict,
                           std::set<std::string>* compiled) const {
    common_chat_params params;
    std::exception_ptr refused;
    compiled->clear();
    host.schema_rules = [&](const auto& add_rule, const std::string& name, const std::string& schema,
                            const std::string& document) -> std::string {
      const std::string whole = SelfContainedSchema(schema, document);
      try {
        CompileJsonSchema(whole);
      } catch (const Error&) {
        if (!strict) return add_rule(name, JsonSchemaInGbnf("{}"));
        refused = std::current_exception();
        throw;
      }
      compiled->insert(schema);
      return add_rule(name, JsonSchemaInGbnf(whole));
    };
    RunBounded(bytes + kAnalysisBytes, label + ": its chat template", [&] {
      const common_chat_host_scope scope(&host);
      try {
        params = common_chat_templates_apply(templates.get(), inputs);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& error) {
        // The schema compiler's own words are better than what wraps them.
        if (refused) std::rethrow_exception(refused);
        throw Error(E_INVALIDARG, label + ": its chat template refuses the conversation: " + ReasonOf(error.what()));
      }
    });
    return params;
  }
};

ModelFormatter::ModelFormatter(const std::string& source, const std::string& bos, const std::string& eos,
                               std::string label)
    : source_(source), label_(std::move(label)) {
  CheckTemplateSize(source_, label_);
  auto handlers = std::make_unique<Handlers>();
  handlers->label = label_;
  RunBounded(source_.size() + kAnalysisBytes, label_ + ": its chat template", [&] {
    try {
      handlers->templates = common_chat_templates_init(nullptr, source_, bos, eos);
      handlers->abilities = common_chat_templates_get_caps(handlers->templates.get());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                  label_ + ": its chat template cannot be used: " + ReasonOf(error.what()));
    }
  });
  handlers_ = std::move(handlers);
}

ModelFormatter::~ModelFormatter() = default;

namespace {

// What a template or its family's handler would leave out.
void CheckUsed(const Conversation& conversation, const std::string& source, const std::string& label, bool takes_tools,
               bool takes_parts, bool takes_parallel) {
  const auto refuse = [&](const std::string& what) { throw Error(kNotSupported, label + ": " + what); };
  if (!conversation.tools.empty() && !takes_tools) refuse("tools are set, but the chat template does not show tools");
  if (conversation.parallel_tool_calls == true && !takes_parallel) {
    refuse("parallelToolCalls is enabled, but the chat template shows one call at a time");
  }
  if (conversation.enable_thinking && !Mentions(source, "enable_thinking")) {
    refuse("enableThinking is set, but the chat template knows no such switch");
  }
  for (const auto& [name, value] : conversation.values) {
    if (!Mentions(source, name)) refuse("the chat template does not use the template value '" + name + "'");
  }
  for (size_t i = 0; i < conversation.messages.size(); ++i) {
    for (const ContentPart& part : conversation.messages[i].parts) {
      if (part.type != "text" && !(takes_parts && Mentions(source, part.type))) {
        refuse(Field("messages", i) + ".contentParts has the type '" + part.type +
               "', which the chat template does not show");
      }
    }
  }
  const bool has_format = conversation.response_schema || !conversation.grammar.empty() || !conversation.regex.empty();
  if (has_format && !conversation.tools.empty() && conversation.tool_choice != ToolChoice::kNone) {
    refuse("tools and a format of the reply are set; only one of them can be enforced");
  }
}

common_chat_host HostOf(const Conversation& conversation, const std::string& source, const TextMarks& marks) {
  common_chat_host host;
  host.input_begin = marks.begin;
  host.input_end = marks.end;
  host.template_words = TrustedRoles(source, conversation);
  host.now = static_cast<std::time_t>(conversation.unix_seconds);
  host.utc_offset = conversation.utc_offset_seconds;
  return host;
}

common_chat_templates_inputs InputsOf(const Conversation& conversation, Continuation continuation,
                                      const TextMarks& marks, bool object_arguments, bool takes_parallel) {
  common_chat_templates_inputs inputs;
  for (const ConversationMessage& message : conversation.messages) {
    inputs.messages.push_back(MessageOf(message, object_arguments));
  }
  if (continuation != Continuation::kNone) {
    // The handlers put these texts behind the prompt themselves.
    common_chat_msg& last = inputs.messages.back();
    last.content = conversation.messages.back().parts.empty() ? last.content : last.render_content("\n");
    last.content_parts.clear();
    for (std::string* text : {&last.content, &last.reasoning_content}) {
      if (!text->empty()) *text = marks.begin + *text + marks.end;
    }
    inputs.continue_final_message = continuation == Continuation::kReasoning ? COMMON_CHAT_CONTINUATION_REASONING
                                                                             : COMMON_CHAT_CONTINUATION_CONTENT;
  }
  for (const ToolDefinition& tool : conversation.tools) {
    inputs.tools.push_back({tool.name, tool.description, tool.parameters.text});
  }
  if (conversation.tool_choice == ToolChoice::kNone) inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
  if (conversation.requires_call()) inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
  inputs.parallel_tool_calls = conversation.parallel_tool_calls.value_or(takes_parallel);
  inputs.add_generation_prompt = conversation.add_generation_prompt;
  if (conversation.response_schema) inputs.json_schema = conversation.response_schema->text;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_AUTO;
  // Spec-open: as llama.cpp has it, the handlers think unless they are told not to.
  inputs.enable_thinking = conversation.enable_thinking.value_or(true);
  inputs.now = std::chrono::system_clock::from_time_t(static_cast<std::time_t>(conversation.unix_seconds));
  for (const auto& [name, value] : conversation.values) inputs.chat_template_kwargs[name] = ValueJson(value);
  return inputs;
}

// The grammar that the handler made for calls or a response format.
std::optional<ConstraintRequest> ConstraintOf(const common_chat_params& params, const std::string& generation_prompt) {
  if (params.grammar.empty()) return std::nullopt;
  ConstraintRequest request;
  request.syntax = ConstraintRequest::kGbnf;
  request.lazy = params.grammar_lazy;
  request.value = request.lazy ? params.grammar : BegunGrammar(generation_prompt, params.grammar);
  if (request.lazy) {
    for (const common_grammar_trigger& trigger : params.grammar_triggers)
      request.triggers.push_back(TriggerOf(trigger));
  }
  return request;
}

ChatReplyFormat ReplyFormatOf(const common_chat_params& params, const Conversation& conversation,
                              const std::string& generation_prompt, const std::string& label) {
  ChatReplyFormat reply;
  reply.format = params.format;
  reply.generation_prompt = generation_prompt;
  reply.reasoning = params.supports_thinking;
  for (const ConversationMessage& message : conversation.messages) {
    for (const ToolCall& call : message.tool_calls) {
      ++reply.calls_before;
      reply.known_ids.insert(call.id);
    }
  }
  RunBounded(params.parser.size(), label + ": the parser of its replies", [&] {
    if (params.parser.empty()) {
      reply.grammar =
          build_peg_parser([](common_peg_parser_builder& p) { return p.tag("content", p.rest()) + p.end(); });
    } else {
      reply.grammar.load(params.parser);
    }
  });
  return reply;
}

// A sentence about the first tool whose calls the grammar does not hold to their schema.
std::optional<std::string> FindOpenTool(const common_peg_arena& grammar, const Conversation& conversation,
                                        const std::set<std::string>& compiled) {
  for (const ToolDefinition& tool : conversation.tools) {
    if (conversation.tool_choice == ToolChoice::kNamed && tool.name != conversation.named_tool) continue;
    const auto open = FindUnenforced(grammar, tool, compiled);
    if (!open) continue;
    return "toolChoice asks for a call, but the call format of the chat template cannot enforce " + *open +
           " for the tool '" + tool.name + "'";
  }
  return std::nullopt;
}

}  // namespace

FormattedPrompt ModelFormatter::Format(const Conversation& conversation) const {
  const Handlers& handlers = *handlers_;
  const bool takes_parallel = handlers.Can("supports_parallel_tool_calls");
  CheckUsed(conversation, source_, label_, handlers.Can("supports_tools"), handlers.Can("supports_typed_content"),
            takes_parallel);
  const bool calls = !conversation.tools.empty() && conversation.tool_choice != ToolChoice::kNone;
  const bool strict = conversation.requires_call() || conversation.response_schema;
  const size_t bytes = conversation.size();

  TextMarks marks;
  marks.begin = UnusedByte(source_, conversation);
  marks.end = UnusedByte(source_, conversation, marks.begin);
  const common_chat_host host = HostOf(conversation, source_, marks);
  FormattedPrompt formatted;
  formatted.formatter = "model-default";
  formatted.continuation = ResolveContinuation(conversation);
  common_chat_templates_inputs inputs =
      InputsOf(conversation, formatted.continuation, marks, handlers.Can("supports_object_arguments"), takes_parallel);

  std::set<std::string> compiled;
  common_chat_params params;
  try {
    params = handlers.Apply(inputs, host, bytes, strict, &compiled);
  } catch (const Error& error) {
    // A template that shows no form of replies is good for a prompt, with everything in the reply as content.
    if (error.code() != E_INVALIDARG || calls || conversation.response_schema) throw;
    inputs.force_pure_content = true;
    params = handlers.Apply(inputs, host, bytes, strict, &compiled);
    formatted.formatter = "model-jinja";
  }
  formatted.prompt = SplitMarked(params.prompt, marks);
  const std::string generation_prompt = WithoutMarks(params.generation_prompt, marks);
  if (conversation.tool_choice == ToolChoice::kNamed) {
    // The prompt shows all tools; format and grammar know the named one.
    const auto other = [&](const common_chat_tool& tool) { return tool.name != conversation.named_tool; };
    inputs.tools.erase(std::remove_if(inputs.tools.begin(), inputs.tools.end(), other), inputs.tools.end());
    params = handlers.Apply(inputs, host, bytes, strict, &compiled);
  }

  formatted.generation_prompt_added =
      conversation.add_generation_prompt && formatted.continuation == Continuation::kNone;
  if (formatted.generation_prompt_added || formatted.continuation != Continuation::kNone) {
    formatted.generation_prompt = generation_prompt;
  }
  formatted.additional_stops = params.additional_stops;
  formatted.preserved_tokens = params.preserved_tokens;
  if (calls || conversation.response_schema) {
    formatted.constraint = ConstraintOf(params, generation_prompt);
  } else {
    SetPlainConstraint(conversation, &formatted);
  }
  if (strict && !formatted.constraint) {
    throw Error(kNotSupported, label_ + ": the form of a reply cannot be enforced with this chat template");
  }

  // The handlers' grammars read the generation prompt and the reply, whether or not it was asked for.
  ChatReplyFormat reply = ReplyFormatOf(params, conversation, generation_prompt, label_);
  reply.tool_calls = calls;
  reply.parallel_calls = calls && inputs.parallel_tool_calls;
  if (calls) {
    const auto open = FindOpenTool(reply.grammar, conversation, compiled);
    if (open && strict) throw Error(kNotSupported, label_ + ": " + *open);
    // Spec-open: a constraint is offered where it enforces every schema; with the choice left to the model its absence
    // is no error, and the result tells it.
    if (open) formatted.constraint.reset();
  }
  auto syntax = std::make_shared<ChatReplySyntax>(std::move(reply));
  if (calls && !syntax->reads_tool_calls()) {
    throw Error(kNotSupported, label_ + ": tools are set, but the form of calls is not clear from the chat template");
  }
  formatted.syntax = std::move(syntax);
  return formatted;
}

}  // namespace owml::text
