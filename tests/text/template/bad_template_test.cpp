// Templates that are damaged, hostile or merely unusual: an error in words within bounds, or the text that they mean.
#include <gmock/gmock.h>

#include <chrono>
#include <ctime>

#include "base/error.h"
#include "text/template/jinja_template.h"
#include "text/template/model_formatter.h"
#include "text/template/portable_formatter.h"
#include "text/template/template_fixture.h"

namespace owml::text::test {
namespace {

using testing::HasSubstr;

const HRESULT kInvalidData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);

std::string Rendered(const std::string& source, const std::string& variables = "{}") {
  JinjaInput input;
  input.variables_json = variables;
  return TextOf(JinjaTemplate(source, "a.gguf").Render(input));
}

// The processor's time in seconds, since the clock also counts what other programs do.
template <typename Work>
double SecondsOf(Work work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

template <typename Work>
void ExpectRefused(Work work, HRESULT code, const std::string& words) {
  try {
    work();
    ADD_FAILURE() << "nothing was refused; expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

// In both modes that run templates, with and without made-up conversations.
void ExpectBounded(const std::string& source, const std::string& words) {
  EXPECT_LT(SecondsOf([&] { ExpectRefused([&] { Rendered(source); }, kInvalidData, words); }), 2.0) << source;
  EXPECT_LT(SecondsOf([&] { EXPECT_THROW(ModelFormatter(source, "", "", "a.gguf").Format(Asked("Hi")), Error); }), 4.0)
      << source;
}

TEST(BadTemplate, LoopsEndAtTheBoundOfSteps) {
  const std::string steps = "too many steps";
  ExpectBounded("{% for i in range(32000) %}{% for j in range(32000) %}{% endfor %}{% endfor %}", steps);
  ExpectBounded(
      "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{{ '' }}{% endfor %}"
      "{% endfor %}{% endfor %}",
      steps);
  ExpectBounded(
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      steps);
  ExpectBounded("{% set l = range(90000)|list %}{% for i in l %}{% if (i + 100000) in l %}{% endif %}{% endfor %}",
                steps);
}

TEST(BadTemplate, ALoopOverABillionNumbersIsRefusedAtOnce) {
  ExpectRefused([] { Rendered("{% for i in range(1000000000) %}x{% endfor %}"); }, E_INVALIDARG, "100000 numbers");
}

TEST(BadTemplate, RecursionEndsAtTheBoundOfDepth) {
  ExpectBounded("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested too deep");
  ExpectBounded(
      "{% set ns = namespace(x=1) %}{% for i in range(20000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x|tojson }}",
      "cannot be used: it ");
}

TEST(BadTemplate, TextEndsAtTheBoundOfBytes) {
  const std::string much = "too much text";
  ExpectBounded(
      "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"
      "{{ ns.x|length }}",
      much);
  ExpectBounded("{{ ('a' * 100000).replace('a', 'b' * 100000)|length }}", much);
  ExpectBounded("{{ ('a' * 100000).replace('', 'b' * 100000)|length }}", much);
  ExpectBounded("{{ 'a'|indent(1000000000000) }}", much);
  ExpectBounded("{{ 'abcdefgh' * 1000000000000 }}", "too");
}

TEST(BadTemplate, AValueCannotHoldItself) {
  ExpectRefused([] { Rendered("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}"); }, E_INVALIDARG, "hold itself");
}

TEST(BadTemplate, NothingLeadsOutOfTheSandbox) {
  EXPECT_EQ(Rendered("{{ 'x'.__class__ }}|"), "|");
  ExpectRefused([] { Rendered("{{ 'x'.__class__.__mro__ }}"); }, E_INVALIDARG, "__mro__");
  ExpectRefused([] { Rendered("{% set l = [] %}{{ l.append(1) }}"); }, E_INVALIDARG, "not a function");
}

TEST(BadTemplate, DamagedTemplatesAreErrorsOfTheFile) {
  for (const char* source :
       {"{% if true %}x", "{% endif %}", "{% for x in y %}", "{{ 1 }", "{{ 'a", "{# c", "{% nonsense %}", "{{ }}",
        "{% if %}{% endif %}", "{{ a b }}", "{{ [1 2] }}", "{{ {1 2} }}", "{% else %}", "{% macro %}{% endmacro %}",
        "{{ 1 < 2 < 3 }}", "{{ '\\u12' }}", "{{ 99999999999999999999 }}"}) {
    ExpectRefused([&] { Rendered(source); }, kInvalidData, "a.gguf: its chat template cannot be used: ");
  }
  ExpectRefused([] { Rendered(std::string(300000, 'a')); }, kInvalidData, "300000 bytes");
  for (const char* brackets : {"()", "[]", "{}"}) {
    const std::string deep = "{{ " + std::string(100000, brackets[0]) + std::string(100000, brackets[1]) + " }}";
    ExpectRefused([&] { Rendered(deep); }, kInvalidData, "a.gguf");
  }
  std::string chain = "{{ 1";
  for (int i = 0; i < 60000; ++i) chain += "+1";
  ExpectRefused([&] { Rendered(chain + " }}"); }, kInvalidData, "nested too deep");
}

TEST(BadTemplate, NumbersStayWithinTheirBits) {
  for (const char* source : {"{{ 9223372036854775807 + 1 }}", "{{ 2 ** 64 }}", "{{ -9223372036854775807 - 2 }}",
                             "{{ 4294967296 * 4294967296 }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}", "{{ 1 / 0 }}"}) {
    ExpectRefused([&] { Rendered(source); }, E_INVALIDARG, "a.gguf: its chat template refuses");
  }
  EXPECT_EQ(Rendered("{{ [1,2,3][::9223372036854775807] }}{{ 'abc'[9223372036854775807:] }}"), "[1]");
}

TEST(BadTemplate, UsualThingsOfRealTemplatesWork) {
  EXPECT_EQ(Rendered("{% for i in [1,2,3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}"), "1");
  EXPECT_EQ(Rendered("{{ x|tojson(ensure_ascii=False) }}", R"({"x": {"a": "\u00e9<"}})"), "{\"a\": \"\u00e9<\"}");
  EXPECT_EQ(Rendered("{{ l|rejectattr('role', 'equalto', 'system')|list|length }}",
                     R"({"l": [{"role": "system"}, {"role": "user"}]})"),
            "1");
  EXPECT_EQ(Rendered("x{% if true %}y{% endif %}"), "xy");
}

TEST(BadTemplate, ARefusalComesInTheTemplatesOwnWords) {
  const std::string source =
      "{% if messages|length < 2 %}{{ raise_exception('roles must alternate') }}{% endif %}{{ messages[0].content }}";
  ExpectRefused([&] { Rendered(source, R"({"messages": []})"); }, E_INVALIDARG,
                "a.gguf: its chat template refuses the conversation: roles must alternate");
  ExpectRefused([&] { ModelFormatter(source, "", "", "a.gguf").Format(Asked("Hi")); }, E_INVALIDARG,
                "a.gguf: its chat template refuses the conversation: roles must alternate");
}

TEST(BadTemplate, ATemplateThatWantsOnlyPartsGetsParts) {
  const std::string source =
      "{% for m in messages %}{% for part in m.content %}{{ '[' + part['type'] + ':' + part['text'] + ']' }}{% endfor "
      "%}"
      "{% endfor %}";
  EXPECT_EQ(TextOf(PortableFormatter(source, "", "", "a.gguf").Format(Asked("Hi")).prompt), "[text:Hi]");
  EXPECT_EQ(TextOf(ModelFormatter(source, "", "", "a.gguf").Format(Asked("Hi")).prompt), "[text:Hi]");
}

}  // namespace
}  // namespace owml::text::test
