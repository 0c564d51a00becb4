# Turns the generated tables into what ctypes needs: ids, function prototypes, structs.
# Used by reference.py for calls, by com_object.py for objects written in Python, by the public modules for structs.
"""Interfaces and structs of the binary interface as ctypes sees them."""

from __future__ import annotations

import ctypes
import functools
import uuid
from typing import Any, Dict, Mapping, Tuple

from .. import _abi

KINDS: Mapping[str, Any] = {
    "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double, "ptr": ctypes.c_void_p,
}  # fmt: skip

IUNKNOWN = "00000000-0000-0000-c000-000000000046"
FIRST_SLOT = 3
POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)

#: Interfaces of COM itself that this package implements; the generated tables hold only the project's own.
_COM_INTERFACES: Mapping[str, Tuple[str, str, Tuple[Tuple[str, int, Tuple[Tuple[str, str, str, str], ...]], ...]]] = {
    "IUnknown": (IUNKNOWN, "", ()),
    "IErrorInfo": ("1cf2b120-547d-101b-8e65-08002b2bd119", "IUnknown", (
        ("GetGUID", 3, (("guid", "ptr", "out", "GUID*"),)),
        ("GetSource", 4, (("source", "ptr", "out", "BSTR*"),)),
        ("GetDescription", 5, (("description", "ptr", "out", "BSTR*"),)),
        ("GetHelpFile", 6, (("helpFile", "ptr", "out", "BSTR*"),)),
        ("GetHelpContext", 7, (("helpContext", "ptr", "out", "UINT32*"),)),
    )),
}  # fmt: skip

Guid = ctypes.c_ubyte * 16

QUERY_INTERFACE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
COUNT_REFERENCES = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)


@functools.cache
def prototype(kinds: Tuple[str, ...]) -> Any:
    """The ctypes function type of a method with these parameter kinds."""
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *(KINDS[kind] for kind in kinds))


class Interface:
    """Id and methods of one interface, inherited methods included."""

    __slots__ = ("name", "uuid", "iid", "methods", "vtable_bytes")

    def __init__(self, name: str) -> None:
        identity, base, own = _abi.INTERFACES.get(name) or _COM_INTERFACES[name]
        self.name = name
        self.uuid = uuid.UUID(identity)
        self.iid = Guid.from_buffer_copy(self.uuid.bytes_le)
        self.methods: Dict[str, Tuple[int, Any]] = dict(interface(base).methods) if base else {}
        for method, slot, parameters in own:
            self.methods[method] = (slot, prototype(tuple(kind for _, kind, _, _ in parameters)))
        self.vtable_bytes = POINTER_SIZE * (FIRST_SLOT + len(self.methods))


@functools.cache
def interface(name: str) -> Interface:
    return Interface(name)


@functools.lru_cache(maxsize=512)
def _functions(name: str, vtable: bytes) -> Mapping[str, Any]:
    # keyed by what the table holds, not by where it lies: an application's table may go and another take its place
    entries = (ctypes.c_size_t * (len(vtable) // POINTER_SIZE)).from_buffer_copy(vtable)
    found = {method: kind(entries[slot]) for method, (slot, kind) in interface(name).methods.items()}
    found["QueryInterface"] = QUERY_INTERFACE(entries[0])
    found["AddRef"] = COUNT_REFERENCES(entries[1])
    found["Release"] = COUNT_REFERENCES(entries[2])
    return found


def functions(name: str, address: int) -> Mapping[str, Any]:
    """The methods of the object at `address`, by name, as callables that take the address first."""
    table = ctypes.c_void_p.from_address(address).value
    if not table:
        raise ValueError(f"the object at {address:#x} has no method table")
    return _functions(name, ctypes.string_at(table, interface(name).vtable_bytes))


@functools.cache
def struct(name: str) -> Any:
    """The ctypes class of a struct; new instances are zero."""
    size, fields = _abi.STRUCTS[name]
    members = []
    for field, kind, count, _, _ in fields:
        base = KINDS.get(kind) or struct(kind)
        members.append((field, base * count if count else base))
    made = type(name, (ctypes.Structure,), {"_fields_": members})
    if ctypes.sizeof(made) != size:
        raise TypeError(f"{name} has {ctypes.sizeof(made)} bytes here and {size} in the interface tables")
    return made
