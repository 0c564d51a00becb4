# Base of every public class that stands for a native object: close(), with, and "used after close".
# Subclassed in openwinml.runtime and openwinml.tasks.
"""Closable wrappers around native references."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type, TypeVar

from .errors import ClosedError
from .reference import Reference

Self = TypeVar("Self", bound="NativeObject")


class NativeObject:
    """Holds the native object until close() or the end of its `with` block; afterwards every use raises ClosedError."""

    _reference: Optional[Reference] = None
    _interfaces: Dict[str, Reference]

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__} objects come from the methods that return them, not from their class")

    @classmethod
    def _adopt(cls: Type[Self], reference: Reference) -> Self:
        made = cls.__new__(cls)
        made._hold(reference)
        return made

    def _hold(self, reference: Reference) -> None:
        self._reference = reference
        self._interfaces = {}

    @property
    def _native(self) -> Reference:
        reference = self._reference
        if reference is None:
            raise ClosedError(native_message=f"this {type(self).__name__} is closed")
        return reference

    def _interface(self, name: str) -> Reference:
        """Another interface of the same object, asked for once; NotSupportedError when the object has none."""
        interfaces = self._interfaces if self._reference is not None else None
        found = interfaces.get(name) if interfaces else None
        if found is None:
            found = self._native.query(name)
            if interfaces is not None:
                interfaces[name] = found
        return found

    def close(self) -> None:
        """Gives up the native object; what others made from it stays valid. Closing again does nothing."""
        self._reference = None
        self._interfaces = {}

    def __enter__(self: Self) -> Self:
        self._native
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._reference is None else f"at 0x{self._reference.address:x}"
        return f"<{type(self).__module__.rpartition('._')[0] or __package__}.{type(self).__name__} {state}>"


class NativeInterface(NativeObject):
    """A native object that this package only passes on; `address` is its interface pointer, borrowed."""

    @property
    def address(self) -> int:
        return self._native.address


def reference_of(value: Any, kind: Type[NativeObject], name: str) -> Reference:
    """The native object of an argument; TypeError for the wrong kind, ClosedError for a closed one."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    return value._native
