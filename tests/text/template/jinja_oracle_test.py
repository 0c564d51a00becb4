#!/usr/bin/env python3
"""Compares the portable formatter's Jinja with Python's: the published chat templates, and expressions one by one.

usage: jinja_oracle_test.py PROBE FOLDER_OF_TEMPLATES
Python's Jinja is set up as Hugging Face transformers does it. Exit status 77 when the test Python has no jinja2.
"""
import datetime
import json
import pathlib
import struct
import subprocess
import sys

try:
    import jinja2
    from jinja2 import ext, nodes, sandbox
except ImportError:
    print("the test Python has no jinja2 (tools/bootstrap --tests)")
    sys.exit(77)

NOW = datetime.datetime.fromtimestamp(1700000000, datetime.timezone.utc)


class Generation(ext.Extension):
    """The tag that marks what the assistant wrote; its body is rendered as it is."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda layout: NOW.strftime(layout)
    return made


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Name of the city"},
                    "days": {"type": "integer", "minimum": 1},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Adds <b>two</b> numbers & more, déjà vu.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number", "enum": [0.1, 1e-7, 3]}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        },
    },
]


def says(role, content, **more):
    return {"role": role, "content": content, **more}


def conversations():
    call = {
        "id": "call12345",
        "type": "function",
        "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": 2}},
    }
    result = says("tool", '{"sky": "grey"}', tool_call_id="call12345", name="get_weather")
    yield "plain", [says("user", "Hello, who are you?")], None
    yield "system", [says("system", "You are terse.\nOne line."), says("user", "Say <hi> & 'bye' \"now\".")], None
    yield "multi-turn", [
        says("system", "Be kind."),
        says("user", "Hi  "),
        says("assistant", "Hello!\n"),
        says("user", "  What is 2+2?"),
        says("assistant", "4"),
        says("user", "And 3+3? 😀"),
    ], None
    yield "tools", [says("user", "Weather in Köln?")], TOOLS
    yield "tool result", [
        says("system", "Use tools."),
        says("user", "Weather in Köln?"),
        says("assistant", "", tool_calls=[call]),
        result,
    ], TOOLS
    yield "reasoning", [
        says("user", "Think."),
        says("assistant", "It is 4.", reasoning_content="Two and two\nmake four."),
        says("user", "Sure?"),
    ], None


# In Python a text that went through `safe` escapes what is added to it, so that this template writes its tools as HTML
# ("&#34;name&#34;"). No model was trained on that: llama.cpp and the template's own examples write them as they are.
ESCAPED_BY_ACCIDENT = {("meetkai-functionary-medium-v3.1", "tools"), ("meetkai-functionary-medium-v3.1", "tool result")}

# Each is a template of its own; both engines write the same, or both refuse.
EXPRESSIONS = r"""
{{ 1 + 2 }}|{{ 7 // 2 }}|{{ -7 // 2 }}|{{ -7 % 3 }}|{{ 2 ** 10 }}|{{ 7 / 2 }}|{{ 4 / 2 }}|{{ 1.5 + 1 }}|{{ 1 / 0 }}
{{ 'a' ~ 1 ~ none ~ true ~ missing }}|{{ 'a' + 'b' ~ 1 }}|{{ 'a' * 3 }}|{{ [1] * 2 }}|{{ [1] + [2] }}
{{ 'a' + 1 }}
{{ none + 'a' }}
{{ missing + 'a' }}
{{ [] + 'a' }}
{{ none }}|{{ true }}|{{ [1, 'a', none, 1.0] }}|{{ {'a': 1, 'b': [true]} }}|{{ (1,) }}|{{ (1, 2) }}|{{ missing }}
{{ missing.x }}
{{ d.x }}|{{ d['x'] }}|{{ d.get('x') }}|{{ d.get('x', 5) }}|{{ d.s }}|{{ d['s'] }}
{{ d.x.y }}
{{ 'abc'[1] }}|{{ 'abc'[-1] }}|{{ 'abc'[::-1] }}|{{ 'abc'[:2] }}|{{ 'äöü'[1:2] }}|{{ 'äöü'|length }}|{{ [1, 2, 3][::-1] }}|{{ [1][5] }}
{{ 'a,b,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a b c'.split(' ', 1) }}|{{ 'a b c'.rsplit(' ', 1) }}|{{ '  a b  c '.split(none, 1) }}|{{ ' a b '.rsplit(none, 1) }}
{{ 'aXbXc'.replace('X', '--') }}|{{ 'abc'|replace('b', '') }}|{{ 'abc'.replace('', '-') }}|{{ 'aaa'.replace('a', 'b', 2) }}
{{ '  x '|trim }}|{{ 'xxaxx'.strip('x') }}|{{ 'xxa'.lstrip('x') }}|{{ '\u3000a\u00a0'|trim }}|
{{ 'hello world'|title }}|{{ 'HELLO'|capitalize }}|{{ 'abc'|upper }}|{{ 'ABC'.lower() }}|{{ 'ÄÖ'|lower }}
{{ d|tojson }}|{{ d|tojson(indent=2) }}|{{ [1, 2]|tojson(indent=4) }}|{{ 'é<>&\'"'|tojson }}|{{ 'é😀'|tojson(ensure_ascii=True) }}|{{ 'é'|tojson(ensure_ascii=False) }}
{{ d|tojson(separators=(',', ':')) }}|{{ {'b': 1, 'a': 2}|tojson(sort_keys=true) }}|{{ {}|tojson(indent=2) }}|{{ []|tojson(indent=2) }}
{{ (1, 2)|tojson }}|{{ none|tojson }}|{{ true|tojson }}|{{ 1.5|tojson }}|{{ f|tojson }}
{{ missing|tojson }}
{{ [3, 1, 2]|sort }}|{{ ['b', 'A', 'c']|sort }}|{{ ['b', 'A', 'c']|sort(reverse=true) }}|{{ {'b': 1, 'A': 2}|dictsort }}
{{ [1, 2, 3]|join(', ') }}|{{ ['a', 'b']|join }}|{{ [1, none, 'x']|join('-') }}|{{ [1, 2, 3]|min }}|{{ [1, 2, 3]|max }}
{{ l|selectattr('k', 'equalto', 'x')|list }}|{{ l|selectattr('k')|list }}|{{ l|rejectattr('k', 'equalto', 'x')|list }}|{{ l|selectattr('z', 'defined')|list|length }}
{{ l|map(attribute='k')|list }}|{{ l|map(attribute='k')|join(',') }}|{{ [1, none, 2]|select|list }}|{{ [1, 2, 3]|select('odd')|list }}|{{ [1, 2]|reject('equalto', 1)|list }}
{{ l|map(attribute='k')|tojson }}
{{ l|selectattr('k')|length }}
{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{% if i > 1 %}{{ x }}{% endif %}{% set x = i %}{% endfor %}
{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% else %}none{% endfor %}|{% for i in [] %}x{% else %}empty{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}|{% for k in d %}{{ k }}{% endfor %}|{% for c in 'aé' %}[{{ c }}]{% endfor %}|{% for c in missing %}x{% endfor %}
{% for c in none %}x{% endfor %}
{% for c in 5 %}x{% endfor %}
{% for m in l if m.k %}{{ loop.index }}/{{ loop.length }}{{ loop.previtem is defined }}{% endfor %}
{% set ns = namespace(a=1) %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}
{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(a=5) }}|{{ m(1, b=7) }}
{% macro m(a) %}[{{ a }}]{{ caller() }}{% endmacro %}{% call m(1) %}body{% endcall %}
{% set x %}a{{ 1 }}b{% endset %}{{ x }}|{{ x|upper }}|{% set a, b = 1, 2 %}{{ a }}{{ b }}|{% filter upper %}abc{% endfilter %}
{{ 'b' if false }}|{{ 'a' if missing else 'c' }}|{{ (1 if false else 2) + 3 }}|{{ 5 if 3 > 2 else 4 }}
{{ 'a' in 'abc' }}|{{ 1 in [1] }}|{{ 's' in d }}|{{ 'z' not in d }}|{{ 'a' in missing }}
{{ 1 in 'abc' }}
{{ 'a' in none }}
{{ missing is defined }}|{{ d is mapping }}|{{ [] is iterable }}|{{ 'a' is string }}|{{ 1 is number }}|{{ none is none }}|{{ 3 is odd }}|{{ 4 is divisibleby 2 }}|{{ 1 is in [1] }}
{{ 1 == 1.0 }}|{{ true == 1 }}|{{ [1, [2]] == [1, [2]] }}|{{ {'a': [1]} == {'a': [1]} }}|{{ 'a' < 'b' }}|{{ none == none }}|{{ missing == none }}
{{ none|default('x') }}|{{ missing|default('x') }}|{{ ''|default('x', true) }}|{{ missing|default }}|{{ none|default('x', boolean=true) }}
{{ '3'|int }}|{{ '3.7'|int }}|{{ 'abc'|int }}|{{ 'abc'|int(5) }}|{{ ' 4 '|int }}|{{ 3.9|int }}|{{ '2.5'|float }}|{{ 3|string }}|{{ 1.0|string }}|{{ -3|abs }}
{{ 3.14159265358979 }}|{{ 1234567.0 }}|{{ 100000000000000000000.0 }}|{{ 0.1 + 0.2 }}|{{ f }}
{{ 'x {} y'.format(1) }}|{{ 'abc'.startswith('a') }}|{{ 'abc'.endswith('c') }}|{{ d.s.upper() }}|{{ d['s'].title() }}
{{ e['items'] }}|{{ e.length }}|{{ e.string }}|{{ d.keys()|list }}|{{ d.values()|list }}
{{ [1, 2]|first }}|{{ [1, 2]|last }}|{{ []|first }}|{{ [1, 2]|length }}|{{ [1, 2]|count }}|{{ d|length }}
{{ 'a\nb'|indent(2) }}|{{ 'a\n\nb'|indent(2, true) }}|{{ 'a\nb\n'|indent }}|
{{ ["it's"] }}|{{ ['a"b'] }}|{{ ['a\nb'] }}|{{ ['é'] }}|{{ ['a\'"b'] }}|{{ '\u00e9\x41\d' }}|{{ 'a' 'b' }}
x{% if true %}y{% endif %}z
x {#- c -#} y|{{- 'a' -}}   b|{%- if true -%}   q   {%- endif -%}
{{ raise_exception('no') }}
{{ strftime_now('%Y-%m-%d %H:%M %B %A') }}|{{ strftime_now('%d %b %Y') }}
{{ range(3)|list }}|{{ range(1, 4)|list }}|{{ range(5, 0, -2)|list }}
{{ range(1000000)|list|length }}
{{ 'x'.__class__ }}|
{{ 'x'.__class__.__mro__ }}
{% set l2 = [] %}{% set _ = l2.append(1) %}{{ l2 }}
{% if true %}x
{{ 1 }
{% endif %}
{{ [1 2] }}
{{ f(1, 2 }}
{{ d.nope() }}
{{ dict(a=1) }}|{{ namespace(a=1).a }}|{{ true and 'x' }}|{{ false or 'y' }}|{{ '' or 0 }}|{{ not missing }}
{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}
"""

VARIABLES = {
    "d": {"s": "str", "n": 1, "é": None},
    "e": {"items": 1, "length": 2, "string": 3},
    "l": [{"k": "x"}, {"k": ""}, {"k": "z", "z": 1}],
    "f": 1e-7,
}


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render(self, source, variables):
        for text in (source, json.dumps(variables, ensure_ascii=False)):
            data = text.encode()
            self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        good = self.process.stdout.read(1) == b"\1"
        (size,) = struct.unpack("<I", self.process.stdout.read(4))
        return good, self.process.stdout.read(size).decode(errors="replace")


def reference(python, source, variables):
    try:
        return True, python.from_string(source).render(bos_token="<s>", eos_token="</s>", **variables)
    except Exception as error:  # whatever goes wrong in a template
        return False, f"{type(error).__name__}: {error}"


def main():
    probe, python = Probe(sys.argv[1]), environment()
    compared = refused = 0
    failures = []

    def compare(label, source, variables):
        nonlocal compared, refused
        ours, theirs = probe.render(source, variables), reference(python, source, variables)
        compared += 1
        refused += not ours[0]
        if ours[0] != theirs[0] or (ours[0] and ours[1] != theirs[1]):
            failures.append(f"{label}\n   ours   {ours!r}\n   Python {theirs!r}")

    paths = sorted(pathlib.Path(sys.argv[2]).glob("*.jinja"))
    if len(paths) < 60:
        failures.append(f"only {len(paths)} templates in {sys.argv[2]}")
    for path in paths:
        source = path.read_text(encoding="utf-8")
        for name, messages, tools in conversations():
            if (path.stem, name) in ESCAPED_BY_ACCIDENT:
                continue
            variables = {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True}
            compare(f"{path.stem}, {name}", source, variables)
    templates = compared
    for source in EXPRESSIONS.strip("\n").split("\n"):
        compare(source, source, VARIABLES)
    print(f"{len(paths)} templates, {templates} conversations, {compared - templates} expressions; {refused} refused by both")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
