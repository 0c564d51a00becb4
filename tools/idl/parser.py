# Reads one .idl file into the model: a small language after MIDL, described at `parse`.
# Called by generate; knows nothing of headers.
"""Parser for the project's interface definition files."""

from __future__ import annotations

import re
import uuid

from model import Constant, Enum, Export, Field, File, IdlError, Interface, Method, Param, Struct, Type

TOKEN = re.compile(
    r"""(?P<doc>///[^\n]*) | (?P<comment>//[^\n]*) | (?P<space>\s+)
      | (?P<string>L?"[^"\n]*") | (?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})
      | (?P<number>0x[0-9a-fA-F]+|\d+) | (?P<word>[A-Za-z_]\w*) | (?P<mark>[{}()\[\],;:=*])""",
    re.VERBOSE,
)


class Parser:
    def __init__(self, name: str, text: str):
        self.name = name
        self.tokens: list[tuple[str, str, int]] = []
        self.about: list[str] = []
        self.at = 0
        self._scan(text)

    def _scan(self, text: str) -> None:
        position, line = 0, 1
        while position < len(text):
            match = TOKEN.match(text, position)
            if not match:
                raise IdlError(f"{self.name}:{line}: cannot read {text[position:position + 20]!r}")
            kind, token = match.lastgroup or "", match.group()
            if kind == "comment" and not self.tokens:
                self.about.append(token[2:].strip())  # the file's opening lines go into the header
            elif kind not in ("space", "comment"):
                self.tokens.append((kind, token, line))
            line += token.count("\n")
            position = match.end()
        self.tokens.append(("end", "", line))

    def fail(self, wanted: str) -> IdlError:
        kind, token, line = self.tokens[self.at]
        return IdlError(f"{self.name}:{line}: expected {wanted}, found {token or 'the end'!r}")

    def peek(self, token: str, ahead: int = 0) -> bool:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1] == token

    def take(self, token: str) -> bool:
        if self.peek(token):
            self.at += 1
            return True
        return False

    def want(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(repr(token))

    def want_kind(self, kind: str) -> str:
        if self.tokens[self.at][0] != kind:
            raise self.fail(kind)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def doc(self) -> list[str]:
        lines = []
        while self.tokens[self.at][0] == "doc":
            lines.append(self.want_kind("doc")[3:].strip())
        return lines

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.take("["):
            while not self.take("]"):
                name, value = self.want_kind("word"), ""
                if self.take("("):
                    while not self.take(")"):
                        value += self.tokens[self.at][1]
                        self.at += 1
                found[name] = value
                self.take(",")
        return found

    def type(self) -> Type:
        const = self.take("const")
        result = Type(self.want_kind("word"), const)
        while self.take("*"):
            result.stars += 1
        return result

    def params(self) -> list[Param]:
        self.want("(")
        params: list[Param] = []
        while not self.take(")"):
            attributes = self.attributes()
            type_ = self.type()
            params.append(Param(self.want_kind("word"), type_, attributes))
            if not self.peek(")"):
                self.want(",")
        self.want(";")
        return params

    def enum(self, doc: list[str], attributes: dict[str, str]) -> Enum:
        name = self.want_kind("word")
        self.want("{")
        values: list[tuple[str, int, list[str]]] = []
        while not self.take("}"):
            value_doc = self.doc()
            value = self.want_kind("word")
            self.want("=")
            values.append((value, int(self.want_kind("number"), 0), value_doc))
            self.take(",")
        self.want(";")
        return Enum(name, "flags" in attributes, values, doc)

    def struct(self, doc: list[str]) -> Struct:
        name = self.want_kind("word")
        self.want("{")
        fields: list[Field] = []
        while not self.take("}"):
            field_doc = self.doc()
            type_ = self.type()
            field, count = self.want_kind("word"), 0
            if self.take("["):
                count = int(self.want_kind("number"), 0)
                self.want("]")
            self.want(";")
            fields.append(Field(field, type_, count, field_doc))
        self.want(";")
        return Struct(name, fields, doc)

    def interface(self, doc: list[str], attributes: dict[str, str]) -> Interface:
        name = self.want_kind("word")
        if "uuid" not in attributes:
            raise IdlError(f"{self.name}: {name} has no uuid")
        self.want(":")
        base = self.want_kind("word")
        self.want("{")
        methods: list[Method] = []
        while not self.take("}"):
            method_doc = self.doc()
            self.want("HRESULT")
            methods.append(Method(self.want_kind("word"), self.params(), method_doc))
        self.want(";")
        return Interface(name, str(uuid.UUID(attributes["uuid"])), base, methods, attributes, doc)

    def file(self) -> File:
        result = File(self.name, "", self.about)
        while self.tokens[self.at][0] != "end":
            doc, attributes = self.doc(), self.attributes()
            if self.take("header"):
                result.output = self.want_kind("string").strip('"')
                self.want(";")
            elif self.take("import"):
                result.imports.append(self.want_kind("string").strip('"'))
                self.want(";")
            elif self.take("const"):
                name = self.want_kind("word")
                self.want("=")
                result.items.append(Constant(name, self.want_kind("string"), doc))
                self.want(";")
            elif self.take("enum"):
                result.items.append(self.enum(doc, attributes))
            elif self.take("struct"):
                result.items.append(self.struct(doc))
            elif self.take("interface"):
                result.items.append(self.interface(doc, attributes))
            elif self.take("export"):
                self.want("HRESULT")
                result.items.append(Export(self.want_kind("word"), self.params(), doc))
            else:
                raise self.fail("a definition")
        if not result.output:
            raise IdlError(f"{self.name}: no header statement")
        return result


def parse(name: str, text: str) -> File:
    """Parses one file.

    `header "X.h";` names the output, `import "Y.idl";` what it stands on. Then `const NAME = L"text";`, `[flags] enum`,
    `struct`, `[uuid(...)] interface Name : Base { HRESULT Method([in] T a, [out] U* b); };`, `export HRESULT F(...);`.
    `///` lines document what follows. The order of methods is the order of the vtable, from slot 3.
    """
    return Parser(name, text).file()
