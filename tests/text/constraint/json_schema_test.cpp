// JSON Schemas as people and programs write them, and those that must be refused. The test suite of JSON Schema is run
// by schema_suite_test.py.
#include "text/constraint/json_schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "formats/expect_error.h"
#include "text/constraint/accepts.h"
#include "text/constraint/schema_document.h"

namespace owml::text {
namespace {

using test::ExpectError;

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

Acceptor Schema(const std::string& text) { return Acceptor("json_schema", text); }
void Refused(const std::string& text, HRESULT code, const std::vector<std::string>& words) {
  ExpectError([&] { Schema(text); }, code, words);
}

TEST(JsonSchemaTest, AllowsOneSpaceBehindColonsAndCommas) {
  const Acceptor accepts = Schema(R"({"type": "object"})");
  EXPECT_TRUE(accepts(R"({"a": 1, "b": [1, 2], "c":{}})"));
  EXPECT_FALSE(accepts(R"({"a":  1})"));
  EXPECT_FALSE(accepts(R"({ "a":1})"));
  EXPECT_FALSE(accepts("[]"));
}

TEST(JsonSchemaTest, AcceptsWhatPydanticWrites) {
  const Acceptor accepts = Schema(R"({
    "$defs": {
      "Color": {"enum": ["red", "green"], "title": "Color", "type": "string"},
      "Wheel": {"properties": {"size": {"title": "Size", "type": "integer"},
                               "color": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}], "default": null}},
                "required": ["size"], "title": "Wheel", "type": "object"},
      "Car": {"properties": {"wheels": {"items": {"$ref": "#/$defs/Wheel"}, "title": "Wheels", "type": "array"},
                             "spare": {"allOf": [{"$ref": "#/$defs/Wheel"}], "description": "in the boot"}},
              "required": ["wheels"], "title": "Car", "type": "object"}},
    "properties": {"car": {"$ref": "#/$defs/Car"}, "owner": {"title": "Owner", "type": "string"}},
    "required": ["car", "owner"], "title": "Model", "type": "object", "additionalProperties": false})");
  EXPECT_TRUE(accepts(
      R"({"car":{"wheels":[{"size":3,"color":"red"},{"size":4,"color":null}],"spare":{"size":1}},"owner":"x"})"));
  EXPECT_FALSE(accepts(R"({"car":{"wheels":[{"size":3,"color":"blue"}]},"owner":"x"})"));
  EXPECT_FALSE(accepts(R"({"car":{"wheels":[]}})"));
  EXPECT_FALSE(accepts(R"({"car":{"wheels":[]},"owner":"x","more":1})"));
}

TEST(JsonSchemaTest, AnEnumBehindTwoReferencesIsEnforced) {
  const Acceptor accepts =
      Schema(R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"enum": ["x", 1]}}})");
  EXPECT_TRUE(accepts("\"x\""));
  EXPECT_TRUE(accepts("1"));
  EXPECT_TRUE(accepts("1.0"));
  EXPECT_FALSE(accepts("2"));
  EXPECT_FALSE(accepts("\"y\""));
}

TEST(JsonSchemaTest, AReferenceMayLeadIntoAnArrayItem) {
  const Acceptor accepts =
      Schema(R"({"prefixItems": [{"type": "integer"}, {"$ref": "#/prefixItems/0"}], "type": "array"})");
  EXPECT_TRUE(accepts("[1,2,\"x\"]"));
  EXPECT_FALSE(accepts("[1,\"x\"]"));
  Refused(R"({"$ref": "#/prefixItems/1", "prefixItems": [{}]})", E_INVALIDARG, {"leads to nothing"});
}

TEST(JsonSchemaTest, OneOfStandsBesideProperties) {
  const Acceptor accepts = Schema(R"({"type": "object", "properties": {"kind": {"type": "string"}},
      "oneOf": [{"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}],
      "unevaluatedProperties": false})");
  EXPECT_TRUE(accepts(R"({"kind":"a","x":1})"));
  EXPECT_TRUE(accepts(R"({"kind":"b"})"));
  EXPECT_FALSE(accepts(R"({"kind":"a"})"));
  EXPECT_FALSE(accepts(R"({"kind":"b","x":1})"));
  EXPECT_FALSE(accepts(R"({"kind":"c"})"));
}

TEST(JsonSchemaTest, RecursionIsFollowed) {
  const Acceptor accepts = Schema(R"({"$defs": {"node": {"type": "object", "properties": {"value": {"type": "integer"},
      "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["value"],
      "additionalProperties": false}}, "$ref": "#/$defs/node"})");
  EXPECT_TRUE(accepts(R"({"value":1,"children":[{"value":2,"children":[]},{"value":3}]})"));
  EXPECT_FALSE(accepts(R"({"value":1,"children":[{"children":[]}]})"));
}

TEST(JsonSchemaTest, ASchemaThatSaysNothingButItselfIsRefused) {
  Refused(R"({"$ref": "#"})", E_INVALIDARG, {"refers to itself"});
  Refused(R"({"allOf": [{"anyOf": [{"not": {"$ref": "#"}}]}]})", E_INVALIDARG, {"refers to itself"});
}

TEST(JsonSchemaTest, KeywordsBesideAReferenceCount) {
  const Acceptor accepts =
      Schema(R"({"$ref": "#/$defs/n", "minimum": 5, "$defs": {"n": {"type": "integer", "maximum": 7}}})");
  EXPECT_FALSE(accepts("4"));
  EXPECT_TRUE(accepts("5"));
  EXPECT_TRUE(accepts("7.0"));
  EXPECT_FALSE(accepts("8"));
}

TEST(JsonSchemaTest, NumbersAreComparedByValue) {
  for (double bound : {-12.5, -1.0, -0.25, 0.0, 0.5, 3.0, 10.0, 105.75}) {
    const std::string text = std::to_string(bound);
    const Acceptor least = Schema(R"({"type": "number", "minimum": )" + text + "}");
    const Acceptor more = Schema(R"({"type": "number", "exclusiveMinimum": )" + text + "}");
    const Acceptor most = Schema(R"({"type": "number", "maximum": )" + text + "}");
    const Acceptor less = Schema(R"({"type": "number", "exclusiveMaximum": )" + text + "}");
    const Acceptor other = Schema(R"({"type": "number", "not": {"const": )" + text + "}}");
    for (const char* number :
         {"-200",  "-13",   "-12.5",   "-12.50", "-12.49", "-12",    "-2",  "-1",   "-1.0", "-0.9",
          "-0.25", "-0.26", "-0.2500", "-0.0",   "-0",     "0",      "0.0", "0.49", "0.5",  "0.500",
          "0.51",  "1",     "2.999",   "3",      "3.00",   "3.0001", "9",   "9.99", "10",   "10.0",
          "11",    "99",    "100",     "105.7",  "105.75", "105.76", "1000"}) {
      const double value = std::stod(number);
      EXPECT_EQ(least(number), value >= bound) << number << " >= " << bound;
      EXPECT_EQ(more(number), value > bound) << number << " > " << bound;
      EXPECT_EQ(most(number), value <= bound) << number << " <= " << bound;
      EXPECT_EQ(less(number), value < bound) << number << " < " << bound;
      EXPECT_EQ(other(number), value != bound) << number << " != " << bound;
    }
  }
}

TEST(JsonSchemaTest, MultiplesAreFound) {
  const Acceptor sevens = Schema(R"({"type": "integer", "multipleOf": 7})");
  for (int i = -200; i <= 200; ++i) EXPECT_EQ(sevens(std::to_string(i)), i % 7 == 0) << i;
  const Acceptor cents = Schema(R"({"multipleOf": 0.05})");
  EXPECT_TRUE(cents("12.35"));
  EXPECT_TRUE(cents("3"));
  EXPECT_TRUE(cents("0.1000"));
  EXPECT_FALSE(cents("12.36"));
  EXPECT_FALSE(cents("0.001"));
  const Acceptor hundreds = Schema(R"({"multipleOf": 1e2})");
  EXPECT_TRUE(hundreds("-300.0"));
  EXPECT_FALSE(hundreds("350"));
}

TEST(JsonSchemaTest, StringsAreCountedAndMatchedByTheirValue) {
  const Acceptor short_text = Schema(R"({"type": "string", "minLength": 2, "maxLength": 3})");
  EXPECT_TRUE(short_text(R"("é\n")"));
  EXPECT_TRUE(short_text(R"("\ud83d\ude0a😊x")"));
  EXPECT_FALSE(short_text(R"("😊")"));
  EXPECT_FALSE(short_text(R"("abcd")"));
  const Acceptor pattern = Schema(R"({"type": "string", "pattern": "^[é\"]+$", "maxLength": 4})");
  EXPECT_TRUE(pattern(R"("é\u00e9\"")"));
  EXPECT_TRUE(pattern(R"("\u00E9")"));
  EXPECT_FALSE(pattern(R"("e")"));
  EXPECT_FALSE(pattern(R"("ééééé")"));
  EXPECT_FALSE(Schema(R"({"type": "string"})")(R"("\ud83d")"));
}

TEST(JsonSchemaTest, FormatsAreEnforcedForStrings) {
  struct Case {
    const char* format;
    std::vector<const char*> good, bad;
  };
  const Case cases[] = {
      {"date",
       {"2024-02-29", "2000-02-29", "1999-12-31"},
       {"2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "24-01-01"}},
      {"time", {"12:30:00Z", "23:59:60Z", "00:00:00.123+05:30"}, {"24:00:00Z", "12:30:00", "12:60:00Z", "12:30:60Z"}},
      {"date-time", {"2024-01-01T00:00:00Z", "2024-01-01t00:00:00.5-01:00"}, {"2024-01-01", "2024-01-01 00:00:00Z"}},
      {"duration", {"P1D", "PT1H30M", "P3W", "P1Y2M3DT4H5M6S"}, {"P", "PT", "P1S", "1D", "P1YT"}},
      {"uuid",
       {"2eb8aa08-aa98-11ea-b4aa-73b441d16380"},
       {"2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380"}},
      {"ipv4", {"192.168.0.1", "0.0.0.0"}, {"256.0.0.1", "1.2.3", "01.2.3.4"}},
      {"ipv6",
       {"::1", "2001:db8::8:800:200c:417a", "::ffff:192.168.0.1", "1::", "1:2:3:4:5:6:7:8"},
       {"12345::", "1:2:3:4:5:6:7", "1::2::3", ":2", "1:2:3:4:5:6:7:8:9"}},
      {"email",
       {"joe.bloggs@example.com", "te~st@example.com"},
       {"2962", ".test@example.com", "a@b@c", "te..st@example.com"}},
      {"hostname", {"www.example.com", "a-b"}, {"-a.com", "a_b", "a.", ""}},
      {"uri",
       {"http://foo.bar/?baz=qux#quux", "urn:oasis:names", "mailto:a@b.c", "http://[::1]:80/"},
       {"/abc", "abc", "http:// x", "\\\\x"}},
      {"uri-reference", {"/abc", "#frag", "", "http://a/b"}, {"\\\\\\\\x", "#a\\\\b"}},
      {"json-pointer", {"", "/foo/~0~1", "/"}, {"foo", "/~2"}},
      {"relative-json-pointer", {"1", "0/foo", "2#"}, {"/foo", "01", "-1"}}};
  for (const Case& one : cases) {
    const Acceptor accepts = Schema(std::string(R"({"type": "string", "format": ")") + one.format + "\"}");
    for (const char* text : one.good)
      EXPECT_TRUE(accepts(std::string("\"") + text + "\"")) << one.format << ": " << text;
    for (const char* text : one.bad)
      EXPECT_FALSE(accepts(std::string("\"") + text + "\"")) << one.format << ": " << text;
  }
}

TEST(JsonSchemaTest, WhatIsNotEnforcedIsRefusedWithKeywordAndPlace) {
  Refused(R"({"properties": {"a/b": {"items": {"sometimes": 1}}}})", kNotSupported,
          {"JSON schema: /properties/a~1b/items: the keyword \"sometimes\""});
  Refused(R"({"format": "date"})", kNotSupported, {"\"format\""});
  Refused(R"({"type": "string", "format": "iri"})", kNotSupported, {"\"format\"", "\"iri\""});
  Refused(R"({"$dynamicRef": "#x"})", kNotSupported, {"\"$dynamicRef\""});
  Refused(R"({"$ref": "https://example.com/other.json"})", kNotSupported, {"\"$ref\"", "another document"});
  Refused(R"({"type": "array", "uniqueItems": true})", kNotSupported, {"\"uniqueItems\""});
  Refused(R"({"multipleOf": 0.123456789})", kNotSupported, {"\"multipleOf\""});
  Refused(R"({"$schema": "http://example.com/mine", "type": "string"})", kNotSupported, {"\"$schema\""});
  // Of several schemas that ask for the same, the outermost is named.
  Refused(R"({"unevaluatedItems": false, "allOf": [{"contains": {"type": "null"}, "unevaluatedItems": false}]})",
          kNotSupported, {"schema: /: the keyword \"unevaluatedItems\""});
}

TEST(JsonSchemaTest, MalformedSchemasAreRefused) {
  Refused("", E_INVALIDARG, {"JSON schema"});
  Refused("{", E_INVALIDARG, {"JSON schema"});
  Refused("3", E_INVALIDARG, {"a schema is an object"});
  Refused(R"({"type": "strin"})", E_INVALIDARG, {"/type: there is no type \"strin\""});
  Refused(R"({"type": 3})", E_INVALIDARG, {"/type"});
  Refused(R"({"minLength": -1})", E_INVALIDARG, {"/minLength"});
  Refused(R"({"minLength": 1.5})", E_INVALIDARG, {"/minLength"});
  Refused(R"({"items": [{}]})", E_INVALIDARG, {"prefixItems"});
  Refused(R"({"anyOf": []})", E_INVALIDARG, {"/anyOf"});
  Refused(R"({"properties": []})", E_INVALIDARG, {"/properties"});
  Refused(R"({"multipleOf": 0})", E_INVALIDARG, {"must be positive"});
  Refused(R"({"a": 1, "a": 2})", E_INVALIDARG, {"\"a\" is there twice"});
  Refused(R"({"$ref": "#/nowhere"})", E_INVALIDARG, {"leads to nothing"});
  Refused(R"({"type": "string", "pattern": "[a"})", E_INVALIDARG, {"/pattern", "'[' without ']'"});
  Refused(R"j({"properties": {"x": {"type": "string", "pattern": "(?=a)"}}})j", E_INVALIDARG,
          {"/properties/x/pattern", "look-ahead"});
}

TEST(JsonSchemaTest, NumbersThatJsonDoesNotKnowAreRefused) {
  for (const std::string number :
       {"0l\"x\":3", "01", "+1", "1.", ".5", "1e", "1e+", "-", "0x10", "1_0", "NaN", "--1"}) {
    Refused("{\"minProperties\": " + number + "}", E_INVALIDARG, {});
    Refused("{\"const\": [" + number + "]}", E_INVALIDARG, {});
  }
}

TEST(JsonSchemaTest, ASchemaThatNothingFulfilsIsRefused) {
  Refused("false", E_INVALIDARG, {"no text fulfils"});
  Refused(R"({"type": "integer", "minimum": 5, "maximum": 4})", E_INVALIDARG, {"no text fulfils"});
  Refused(R"({"type": "object", "required": ["a"], "properties": {"a": false}})", E_INVALIDARG, {"no text fulfils"});
}

TEST(JsonSchemaTest, HostileSchemasAreBounded) {
  Refused(std::string(100000, '['), E_INVALIDARG, {"JSON schema"});
  std::string deep = "true";
  for (int i = 0; i < 1000; ++i) deep = R"({"not":)" + deep + "}";
  Refused(deep, E_INVALIDARG, {"JSON schema"});
  // 2^40 ways to choose.
  std::string choices = R"({"allOf": [)";
  for (int i = 0; i < 40; ++i) {
    choices += (i ? "," : "") + std::string(R"({"anyOf": [{"required": ["a)") + std::to_string(i) +
               R"("]}, {"required": ["b)" + std::to_string(i) + "\"]}]}";
  }
  Refused(choices + "]}", kNotSupported, {"branches"});
  Refused(R"({"type": "string", "pattern": "(a|b)*a(a|b){40}"})", E_INVALIDARG, {"automaton"});
  Refused(R"({"minItems": 1000000000000})", kNotSupported, {"minItems"});
  Refused(R"({"type": "number", "minimum": 1e999999999})", E_INVALIDARG, {"/minimum"});
}

TEST(JsonSchemaTest, LongChainsOfReferencesAreFollowed) {
  std::string text = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 5000; ++i) {
    text += "\"d" + std::to_string(i) + R"(": {"$ref": "#/$defs/d)" + std::to_string(i + 1) + "\"}, ";
  }
  const Acceptor accepts = Schema(text + R"("d5000": {"const": "end"}}})");
  EXPECT_TRUE(accepts("\"end\""));
  EXPECT_FALSE(accepts("\"en\""));
}

TEST(JsonSchemaTest, ManyPropertiesAndValuesCompile) {
  std::string properties, values;
  for (int i = 0; i < 2000; ++i) values += (i ? ", \"value " : "\"value ") + std::to_string(i) + "\"";
  for (int i = 0; i < 500; ++i) {
    properties += (i ? ", \"p" : "\"p") + std::to_string(i) + R"(": {"type": "integer"})";
  }
  const Acceptor object = Schema(R"({"type": "object", "properties": {)" + properties + "}}");
  EXPECT_TRUE(object(R"({"p3":1,"p77":2,"other":"x"})"));
  EXPECT_FALSE(object(R"({"p77":2,"p3":1})"));
  EXPECT_FALSE(object(R"({"p77":"x"})"));
  const Acceptor list = Schema(R"({"enum": [)" + values + "]}");
  EXPECT_TRUE(list("\"value 1999\""));
  EXPECT_FALSE(list("\"value 2000\""));
}

TEST(JsonSchemaTest, ResolvesAddressesAsTheStandardDoes) {
  // Examples of RFC 3986, section 5.4.
  const std::string base = "http://a/b/c/d;p?q";
  EXPECT_EQ(ResolveUri(base, "g:h"), "g:h");
  EXPECT_EQ(ResolveUri(base, "g"), "http://a/b/c/g");
  EXPECT_EQ(ResolveUri(base, "./g"), "http://a/b/c/g");
  EXPECT_EQ(ResolveUri(base, "g/"), "http://a/b/c/g/");
  EXPECT_EQ(ResolveUri(base, "/g"), "http://a/g");
  EXPECT_EQ(ResolveUri(base, "//g"), "http://g");
  EXPECT_EQ(ResolveUri(base, "?y"), "http://a/b/c/d;p?y");
  EXPECT_EQ(ResolveUri(base, ""), "http://a/b/c/d;p?q");
  EXPECT_EQ(ResolveUri(base, "."), "http://a/b/c/");
  EXPECT_EQ(ResolveUri(base, ".."), "http://a/b/");
  EXPECT_EQ(ResolveUri(base, "../g"), "http://a/b/g");
  EXPECT_EQ(ResolveUri(base, "../../../g"), "http://a/g");
}

}  // namespace
}  // namespace owml::text
