// Schemas, grammars and expressions that reach every part of their compilers.
// Used by make_corpus.
#pragma once

namespace owml::fuzz {

inline constexpr const char* kSchemas[] = {
    "true",
    R"({"type":["string","null","boolean"]})",
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://a/b","type":"object","properties":{"a":{"type":"integer","minimum":-5,"exclusiveMaximum":12.5},"b":{"$ref":"#/$defs/s"},"c":{"enum":["x","é\n",1,null,[1],{"k":2}]}},"required":["a","z"],"additionalProperties":false,"$defs":{"s":{"$anchor":"s","type":"string","pattern":"^[a-z]{2,4}\\d$","maxLength":5}}})",
    R"({"type":"array","prefixItems":[{"const":1},{"type":"number","multipleOf":0.25}],"items":{"$ref":"#"},"minItems":1,"maxItems":4,"contains":{"type":"array"},"minContains":1,"maxContains":2})",
    R"({"oneOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{"not":{"type":"string"}}}}],"patternProperties":{"^x":{"minLength":2}},"propertyNames":{"maxLength":3},"minProperties":1,"maxProperties":3})",
    R"({"if":{"properties":{"k":{"const":1}}},"then":{"required":["t"]},"else":{"not":{"required":["t"]}},"dependentRequired":{"p":["q"]},"dependentSchemas":{"r":{"properties":{"s":false}}}})",
    R"({"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false,"unevaluatedItems":{"type":"null"}})",
    R"({"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true})",
    R"({"type":"string","format":"date-time","minLength":3})",
    R"({"allOf":[{"multipleOf":3},{"multipleOf":5},{"not":{"enum":[15,"x"]}}],"exclusiveMinimum":1e1})",
};

inline constexpr const char* kGrammars[] = {
    "root ::= \"a\" | \"b\" root?",
    R"gbnf(# remark
root ::= item ("," item){0,3} .
item ::= [a-z\]]+ | [^\x00-\x1F"\\] | "\u00e9\n"
  | ("x" | "")*
)gbnf",
    R"gbnf(root ::= a b
a ::= ""
b ::= a c
c ::= root "x" | "y")gbnf",
    R"gbnf(root ::= %json_schema "{\"type\":\"object\"}")gbnf",
    R"gbnf(root ::= ((("a"*)*)+){2,})gbnf",
    "%begun_with \"a\\n\"\nroot ::= [a-z\\n]{3}",
};

inline constexpr const char* kExpressions[] = {
    "^(yes|no)( because .{1,10})?$",
    "[\\w.+-]+@[^\\s@]+\\.\\p{L}{2,}",
    "(?:a|b)*?c{2,5}(?<n>d)\\u{1F60A}\\ud83d\\ude0a|",
    "a^b|$^",
};

}  // namespace owml::fuzz
