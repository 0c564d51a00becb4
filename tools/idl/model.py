# What an interface definition says, as plain data: files, enums, structs, interfaces, exports, and the checks between
# them. Filled by parser.py; read by the emitters of this folder.
"""The model behind the public headers and the Python ABI tables."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_SLOT = 3  # QueryInterface, AddRef and Release come first in every interface

#: Kind of each basic type as abi.json names it.
BASIC_KINDS = {
    "BOOL": "i32", "HRESULT": "i32", "INT32": "i32", "UINT32": "u32", "INT64": "i64", "UINT64": "u64",
    "FLOAT": "f32", "DOUBLE": "f64", "BYTE": "u8", "CHAR": "i8", "void": "void",
    "LPCWSTR": "ptr", "LPWSTR": "ptr", "REFIID": "ptr",
}  # fmt: skip
SIZES = {"i8": 1, "u8": 1, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8, "ptr": 8}


class IdlError(Exception):
    """A definition that cannot be right; the text names the file, the line and what is wrong."""


@dataclass
class Type:
    """`const UINT64*` has name UINT64, const True, stars 1."""

    name: str
    const: bool = False
    stars: int = 0

    def c(self) -> str:
        return ("const " if self.const else "") + self.name + "*" * self.stars


@dataclass
class Param:
    name: str
    type: Type
    attributes: dict[str, str]

    @property
    def direction(self) -> str:
        return "inout" if {"in", "out"} <= self.attributes.keys() else "out" if "out" in self.attributes else "in"


@dataclass
class Field:
    name: str
    type: Type
    count: int  # array length; 0 = not an array
    doc: list[str]


@dataclass
class Constant:
    """A wide-string macro."""

    name: str
    value: str
    doc: list[str]


@dataclass
class Enum:
    name: str
    flags: bool
    values: list[tuple[str, int, list[str]]]
    doc: list[str]


@dataclass
class Struct:
    name: str
    fields: list[Field]
    doc: list[str]


@dataclass
class Method:
    name: str
    params: list[Param]
    doc: list[str]
    slot: int = 0


@dataclass
class Interface:
    name: str
    uuid: str
    base: str
    methods: list[Method]
    attributes: dict[str, str]
    doc: list[str]


@dataclass
class Export:
    name: str
    params: list[Param]
    doc: list[str]


@dataclass
class File:
    name: str  # WinMLTensor.idl
    output: str  # header path below include/
    about: list[str]
    imports: list[str] = field(default_factory=list)
    items: list[Constant | Enum | Struct | Interface | Export] = field(default_factory=list)

    def all(self, kind: type) -> list:
        return [item for item in self.items if isinstance(item, kind)]


class Model:
    """All files together, in the order in which imports need them."""

    def __init__(self, files: list[File]):
        by_name = {file.name: file for file in files}
        self.files: list[File] = []
        for file in files:
            self._order(file, by_name, [])
        self.enums = self._index(Enum)
        self.structs = self._index(Struct)
        self.interfaces = self._index(Interface)
        self.home = {item.name: file for file in self.files for item in file.items}
        self._check_names()
        for interface in self.interfaces.values():
            self._number(interface)
        self._check_ids()
        for file in self.files:
            self._check_types(file)

    def _order(self, file: File, by_name: dict[str, File], path: list[str]) -> None:
        if file in self.files:
            return
        if file.name in path:
            raise IdlError(f"{file.name}: imports itself by way of {' -> '.join(path)}")
        for name in file.imports:
            if name not in by_name:
                raise IdlError(f"{file.name}: imports {name}, which does not exist")
            self._order(by_name[name], by_name, path + [file.name])
        self.files.append(file)

    def _index(self, kind: type) -> dict:
        return {item.name: item for file in self.files for item in file.all(kind)}

    def _check_names(self) -> None:
        seen: dict[str, str] = {}
        for file in self.files:
            names = [item.name for item in file.items]
            names += [value for enum in file.all(Enum) for value, _, _ in enum.values]
            for name in names:
                if name in seen:
                    raise IdlError(f"{file.name}: {name} is already defined in {seen[name]}")
                seen[name] = file.name

    def bases(self, interface: Interface) -> list[Interface]:
        """The chain above an interface, nearest first, IUnknown left out."""
        chain = []
        while interface.base != "IUnknown":
            if interface.base not in self.interfaces:
                raise IdlError(f"{interface.name}: base {interface.base} does not exist")
            interface = self.interfaces[interface.base]
            if interface in chain:
                raise IdlError(f"{interface.name}: is its own base")
            chain.append(interface)
        return chain

    def all_methods(self, interface: Interface) -> list[Method]:
        """Methods in vtable order from slot 3 on, inherited ones included."""
        return [method for one in reversed([interface] + self.bases(interface)) for method in one.methods]

    def _number(self, interface: Interface) -> None:
        names = set()
        for slot, method in enumerate(self.all_methods(interface), FIRST_SLOT):
            if method.name in names:
                raise IdlError(f"{interface.name}: {method.name} appears twice")
            names.add(method.name)
            if method.slot not in (0, slot):
                raise IdlError(f"{interface.name}::{method.name}: slot {method.slot} and {slot}")
            method.slot = slot

    def _check_ids(self) -> None:
        seen: dict[str, str] = {}
        for interface in self.interfaces.values():
            if interface.uuid in seen:
                raise IdlError(f"{interface.name}: same uuid as {seen[interface.uuid]}")
            seen[interface.uuid] = interface.name

    def kind(self, type_: Type) -> str:
        """One of abi.json's kinds, or the name of a struct held by value."""
        if type_.stars:
            return "ptr"
        if type_.name in self.enums:
            return "i32"
        if type_.name in self.structs:
            return type_.name
        if type_.name in BASIC_KINDS:
            return BASIC_KINDS[type_.name]
        raise IdlError(f"unknown type {type_.name}")

    def _known(self, type_: Type) -> bool:
        name = type_.name
        return (name in BASIC_KINDS or name in self.enums or name in self.structs or name in self.interfaces
                or name == "IUnknown")  # fmt: skip

    def _check_types(self, file: File) -> None:
        visible = self.visible(file)
        for struct in file.all(Struct):
            for one in struct.fields:
                where = f"{file.name}: {struct.name}::{one.name}"
                self._check_type(where, one.type, visible)
        for owner, params in self._signatures(file):
            names = [param.name for param in params]
            for param in params:
                where = f"{file.name}: {owner}({param.name})"
                self._check_type(where, param.type, visible)
                self._check_param(where, param, names)

    def visible(self, file: File) -> set[str]:
        """Names that the header of `file` sees: its own and those of its imports, however deep."""
        names = {item.name for item in file.items}
        for other in self.files:
            if other.name in file.imports:
                names |= self.visible(other)
        return names

    @staticmethod
    def _signatures(file: File):
        for interface in file.all(Interface):
            for method in interface.methods:
                yield f"{interface.name}::{method.name}", method.params
        for export in file.all(Export):
            yield export.name, export.params

    def _check_type(self, where: str, type_: Type, visible: set[str]) -> None:
        if not self._known(type_):
            raise IdlError(f"{where}: unknown type {type_.name}")
        if type_.name in self.interfaces or type_.name == "IUnknown":
            if not type_.stars:
                raise IdlError(f"{where}: an interface is passed by pointer")
        elif type_.name not in BASIC_KINDS and type_.name not in visible:
            raise IdlError(f"{where}: {type_.name} is not imported")

    def _check_param(self, where: str, param: Param, names: list[str]) -> None:
        known = {"in", "out", "retval", "optional", "string", "size_is", "length_is", "owned"}
        if unknown := param.attributes.keys() - known:
            raise IdlError(f"{where}: unknown attribute {', '.join(sorted(unknown))}")
        if not {"in", "out"} & param.attributes.keys():
            raise IdlError(f"{where}: neither in nor out")
        if "out" in param.attributes and self.kind(param.type) != "ptr":
            raise IdlError(f"{where}: an out parameter is a pointer")
        if self.kind(param.type) in self.structs:
            raise IdlError(f"{where}: a struct is passed by address")
        for name in ("size_is", "length_is"):
            if name in param.attributes and param.attributes[name].lstrip("*") not in names:
                raise IdlError(f"{where}: {name} names no parameter")
        if "retval" in param.attributes and param.name != names[-1]:
            raise IdlError(f"{where}: retval is not the last parameter")

    def layout(self, struct: Struct) -> tuple[int, int, list[int]]:
        """Size, alignment and field offsets on a 64-bit platform with natural alignment."""
        offset, align, offsets = 0, 1, []
        for one in struct.fields:
            kind = self.kind(one.type)
            size, alignment = (self.layout(self.structs[kind])[:2] if kind in self.structs else (SIZES[kind],) * 2)
            offset = (offset + alignment - 1) // alignment * alignment
            offsets.append(offset)
            offset += size * max(one.count, 1)
            align = max(align, alignment)
        return (offset + align - 1) // align * align, align, offsets
