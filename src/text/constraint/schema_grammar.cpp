// Rules for values and strings; arrays and objects have writers of their own.
// Called by CompileJsonSchema.
#include "text/constraint/schema_grammar.h"

#include <algorithm>

#include "base/error.h"
#include "text/constraint/json_strings.h"
#include "text/constraint/number_sets.h"
#include "text/constraint/schema_array.h"
#include "text/constraint/schema_object.h"

namespace owml::text {

void AddLiterals(Literals* to, const Literals& more) {
  for (const Literal& literal : more) {
    if (std::find(to->begin(), to->end(), literal) == to->end()) to->push_back(literal);
  }
}

SchemaGrammar::SchemaGrammar(SchemaDocument* document, Grammar* grammar, std::string prefix)
    : document_(document), grammar_(grammar), prefix_(std::move(prefix)), branches_(document) {}

Grammar::Rule SchemaGrammar::NewRule() {
  if (++count_ > kMostRules) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "JSON schema: it needs more than " + std::to_string(kMostRules) + " rules");
  }
  return grammar_->AddRule(prefix_ + std::to_string(count_));
}

Grammar::Rule SchemaGrammar::RuleOf(const Literals& literals) {
  Literals key = literals;
  std::erase_if(key, [](const Literal& literal) {
    return literal.holds && literal.schema->is(JsonTree::Kind::kBool) && literal.schema->boolean;
  });
  std::sort(key.begin(), key.end());
  const auto found = rules_.find(key);
  if (found != rules_.end()) return found->second;
  const Grammar::Rule rule = NewRule();
  rules_[std::move(key)] = rule;
  open_.emplace_back(literals, rule);
  return rule;
}

void SchemaGrammar::Finish() {
  while (!open_.empty()) {
    const auto [literals, rule] = std::move(open_.back());
    open_.pop_back();
    std::vector<Node> choices;
    const PropertyNames names = PropertyNamesOf(*document_, literals);
    for (const SchemaBranch& branch : branches_.Of(literals)) choices.push_back(BranchNode(branch, names));
    grammar_->Define(rule, grammar_->Choice(std::move(choices)));
  }
}

SchemaGrammar::Node SchemaGrammar::BranchNode(const SchemaBranch& branch, const PropertyNames& names) {
  std::vector<Node> choices;
  if (branch.types & SchemaBranch::kObject) {
    // Where references lead elsewhere in the document there are two orders that one may call the schema's.
    choices.push_back(SchemaObjectWriter(this, branch, names.as_written).Write());
    if (names.as_met != names.as_written) choices.push_back(SchemaObjectWriter(this, branch, names.as_met).Write());
  }
  if (branch.types & SchemaBranch::kArray) choices.push_back(SchemaArrayWriter(this, branch).Write());
  if (branch.types & SchemaBranch::kString) choices.push_back(StringNode(branch));
  if (branch.types & SchemaBranch::kNumber) {
    choices.push_back(grammar_->Of(branch.numbers ? branch.numbers : JsonNumbers()));
  }
  if (branch.types & SchemaBranch::kTrue) choices.push_back(grammar_->Literal("true"));
  if (branch.types & SchemaBranch::kFalse) choices.push_back(grammar_->Literal("false"));
  if (branch.types & SchemaBranch::kNull) choices.push_back(grammar_->Literal("null"));
  return grammar_->Choice(std::move(choices));
}

SchemaGrammar::Node SchemaGrammar::AnyString() {
  if (!string_rule_) {
    string_rule_ = NewRule();
    grammar_->Define(*string_rule_, grammar_->Of(AnyJsonString()));
  }
  return grammar_->Call(*string_rule_);
}

SchemaGrammar::Node SchemaGrammar::StringNode(const SchemaBranch& branch) {
  const CountRange& length = branch.length;
  if (length.empty()) return grammar_->Nothing();
  if (!branch.strings) {
    if (length.any()) return AnyString();
    constexpr uint64_t kMost = 100000;
    if (length.least > kMost || length.most.value_or(0) > kMost) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                  "JSON schema: \"minLength\" and \"maxLength\" are supported up to " + std::to_string(kMost));
    }
    if (!character_rule_) {
      character_rule_ = NewRule();
      grammar_->Define(*character_rule_, grammar_->Of(AnyJsonCharacter()));
    }
    const uint32_t most = length.most ? static_cast<uint32_t>(*length.most) : Grammar::kUnbounded;
    return grammar_->Sequence(
        {grammar_->Literal("\""),
         grammar_->Repeat(grammar_->Call(*character_rule_), static_cast<uint32_t>(length.least), most),
         grammar_->Literal("\"")});
  }
  if (length.any()) return Key(*branch.strings);
  return Key(branch.strings->Intersection(Automaton::Lengths(length.least, length.most)));
}

SchemaGrammar::Node SchemaGrammar::Key(const Automaton& values) {
  if (values.accepts_everything()) return AnyString();
  return grammar_->Of(std::make_shared<const Automaton>(WrittenAsJson(values)));
}

SchemaGrammar::Node SchemaGrammar::Key(const std::string& name) {
  if (IsPlainAscii(name)) return grammar_->Literal(QuotedPlainAscii(name));
  return Key(Automaton::Literal(name));
}

}  // namespace owml::text
