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

Grammar CompileJsonSchema(std::string_view text) {
  Grammar grammar;
  const Grammar::Rule root = grammar.AddRule("root");
  grammar.Define(root, AddJsonSchema(&grammar, text, "schema-"));
  return grammar;
}

}  // namespace owml::text
