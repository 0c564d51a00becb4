// JSON Schema (draft 2020-12) to a grammar of the JSON texts that are valid, written compactly: keys in the order of
// the schema, at most one space behind a colon or a comma. What is not enforced is refused; docs/constraints.md lists
// it. Called for the syntax "json_schema", and by whoever embeds a schema in a grammar of his own.
#pragma once

#include <string>
#include <string_view>

#include "text/constraint/grammar.h"

namespace owml::text {

// Throws E_INVALIDARG for a text that is no schema or too large, ERROR_NOT_SUPPORTED for a keyword that is not
// enforced: "JSON schema: /properties/a/foo: the keyword "foo" ...".
Grammar CompileJsonSchema(std::string_view text);

// Adds the same to `grammar`; the result matches one valid value. Names of rules begin with `prefix`.
Grammar::Node AddJsonSchema(Grammar* grammar, std::string_view text, const std::string& prefix);

// The same as an expression for grammars in GBNF: `%json_schema "..."`, read by ReadGbnf. Does not look at the schema.
std::string JsonSchemaInGbnf(std::string_view text);

}  // namespace owml::text
