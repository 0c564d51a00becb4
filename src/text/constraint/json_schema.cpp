// The entry to the schema compiler.
// Called by the compiler of constraints and by writers of grammars.
#include "text/constraint/json_schema.h"

#include "text/constraint/schema_document.h"
#include "text/constraint/schema_grammar.h"

namespace owml::text {

Grammar::Node AddJsonSchema(Grammar* grammar, std::string_view text, const std::string& prefix) {
  SchemaDocument document(text);
  SchemaGrammar writer(&document, grammar, prefix);
  const Grammar::Rule rule = writer.RuleOf({{document.root(), true}});
  writer.Finish();
  return grammar->Call(rule);
}

std::string JsonSchemaInGbnf(std::string_view text) {
  std::string result = "%json_schema \"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

Grammar CompileJsonSchema(std::string_view text) {
  Grammar grammar;
  const Grammar::Rule root = grammar.AddRule("root");
  grammar.Define(root, AddJsonSchema(&grammar, text, "schema-"));
  return grammar;
}

}  // namespace owml::text
