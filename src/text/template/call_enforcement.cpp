// Formats that write arguments one by one take strings as they come and need a look at every keyword; the others hold
// a call to its whole schema.
// Called once for each tool of a formatted conversation.
#include "text/template/call_enforcement.h"

#include <chat-peg-parser.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace owml::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 200;

const std::set<std::string> kNotes = {"title", "description", "default",    "examples", "$schema",
                                      "$id",   "$comment",    "deprecated", "readOnly", "writeOnly"};

bool IsNote(const std::string& keyword) { return kNotes.count(keyword) > 0; }

bool HasRef(const Json& value) {
  if (value.is_object() && value.contains("$ref")) return true;
  if (!value.is_structured()) return false;
  for (const Json& item : value) {
    if (HasRef(item)) return true;
  }
  return false;
}

// Whether every text of the parser names the argument.
class MustName {
 public:
  MustName(const common_peg_arena& grammar, const std::string& argument) : grammar_(grammar), argument_(argument) {}

  bool operator()(common_peg_parser_id id, int depth = 0) const {
    if (depth > kDeepest) return false;
    const common_peg_parser_variant& parser = grammar_.get(id);
    const auto below = [&](common_peg_parser_id child) { return (*this)(child, depth + 1); };
    if (const auto* sequence = std::get_if<common_peg_sequence_parser>(&parser)) {
      return std::any_of(sequence->children.begin(), sequence->children.end(), below);
    }
    if (const auto* choice = std::get_if<common_peg_choice_parser>(&parser)) {
      return !choice->children.empty() && std::all_of(choice->children.begin(), choice->children.end(), below);
    }
    if (const auto* repetition = std::get_if<common_peg_repetition_parser>(&parser)) {
      return repetition->min_count > 0 && below(repetition->child);
    }
    if (const auto* tag = std::get_if<common_peg_tag_parser>(&parser)) {
      if (tag->tag != common_chat_peg_builder::TOOL_ARG_NAME) return below(tag->child);
      const auto* literal = std::get_if<common_peg_literal_parser>(&grammar_.get(tag->child));
      return literal && literal->literal == argument_;
    }
    if (const auto* atomic = std::get_if<common_peg_atomic_parser>(&parser)) return below(atomic->child);
    if (const auto* rule = std::get_if<common_peg_rule_parser>(&parser)) return below(rule->child);
    if (const auto* ac = std::get_if<common_peg_ac_parser>(&parser)) return below(ac->child);
    if (const auto* gbnf = std::get_if<common_peg_gbnf_parser>(&parser)) return below(gbnf->child);
    if (const auto* ref = std::get_if<common_peg_ref_parser>(&parser)) {
      return grammar_.has_rule(ref->name) && below(grammar_.get_rule(ref->name));
    }
    return false;
  }

 private:
  const common_peg_arena& grammar_;
  const std::string& argument_;
};

// The places where a call of the tool is read: those with its name below.
bool NamesTool(const common_peg_arena& grammar, common_peg_parser_id id, const std::string& tool, int depth) {
  if (depth > kDeepest) return false;
  const common_peg_parser_variant& parser = grammar.get(id);
  const auto below = [&](common_peg_parser_id child) { return NamesTool(grammar, child, tool, depth + 1); };
  if (const auto* tag = std::get_if<common_peg_tag_parser>(&parser)) {
    if (tag->tag != common_chat_peg_builder::TOOL_NAME) return below(tag->child);
    const auto* literal = std::get_if<common_peg_literal_parser>(&grammar.get(tag->child));
    return literal && literal->literal == tool;
  }
  if (const auto* sequence = std::get_if<common_peg_sequence_parser>(&parser)) {
    return std::any_of(sequence->children.begin(), sequence->children.end(), below);
  }
  if (const auto* atomic = std::get_if<common_peg_atomic_parser>(&parser)) return below(atomic->child);
  return false;
}

bool RequiresArgument(const common_peg_arena& grammar, const std::string& tool, const std::string& argument) {
  bool found = false;
  for (common_peg_parser_id id = 0; id < grammar.size(); ++id) {
    const auto* rule = std::get_if<common_peg_rule_parser>(&grammar.get(id));
    if (!rule || !NamesTool(grammar, rule->child, tool, 0)) continue;
    found = true;
    if (!MustName(grammar, argument)(rule->child)) return false;
  }
  return found;
}

}  // namespace

std::string SelfContainedSchema(const std::string& schema, const std::string& document) {
  if (schema == document) return schema;
  Json part = Json::parse(schema);
  if (!HasRef(part)) return schema;
  const Json whole = Json::parse(document);
  for (const char* definitions : {"$defs", "definitions"}) {
    if (whole.contains(definitions) && !part.contains(definitions)) part[definitions] = whole.at(definitions);
  }
  return part.dump();
}

std::optional<std::string> FindUnenforced(const common_peg_arena& grammar, const ToolDefinition& tool,
                                          const std::set<std::string>& compiled) {
  const Json parameters = Json::parse(tool.parameters.text);
  if (compiled.count(parameters.dump()) > 0) return std::nullopt;
  for (const auto& [keyword, value] : parameters.items()) {
    const bool known = keyword == "type" || keyword == "properties" || keyword == "required" || keyword == "$defs" ||
                       keyword == "definitions" || (keyword == "additionalProperties" && value.is_boolean());
    if (!known && !IsNote(keyword)) return "'" + keyword + "' of its arguments";
  }
  const Json properties = parameters.value("properties", Json::object());
  for (const auto& [name, property] : properties.items()) {
    if (compiled.count(property.dump()) > 0) continue;
    const std::string of = " of the argument '" + name + "'";
    if (!property.is_object() || property.value("type", Json()) != "string") return "the type" + of;
    for (const auto& [keyword, value] : property.items()) {
      if (keyword != "type" && !IsNote(keyword)) return "'" + keyword + "'" + of;
    }
  }
  for (const Json& name : parameters.value("required", Json::array())) {
    if (name.is_string() && !RequiresArgument(grammar, tool.name, name.get<std::string>())) {
      return "that the argument '" + name.get<std::string>() + "' is required";
    }
  }
  return std::nullopt;
}

}  // namespace owml::text
