# One counted reference to a native object, and the calls through it.
# Held by the public wrappers; Python's own counting decides when it is released.
"""Owned interface pointers."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import library
from .errors import E_NOINTERFACE, E_POINTER, E_UNEXPECTED, WinMLError, callback_state, failure
from .interfaces import functions, interface


class Reference:
    """Owns one reference to a native object and releases it when the last Python name for it goes.

    A call keeps its Reference alive until it returns, so an object that another thread closes in the meantime lives
    as long as the call does.
    """

    __slots__ = ("_as_parameter_", "interface", "_functions", "__weakref__")

    def __init__(self, address: int, interface_name: str) -> None:
        """Takes over a reference that the caller owns."""
        self.interface = interface_name
        self._functions = functions(interface_name, address)
        self._as_parameter_ = address  # what ctypes passes; set last, so that a failing constructor releases nothing

    @classmethod
    def borrowed(cls, address: int, interface_name: str) -> Reference:
        """Adds a reference of its own to an object that somebody else keeps."""
        functions(interface_name, address)["AddRef"](address)
        return cls(address, interface_name)

    @property
    def address(self) -> int:
        return self._as_parameter_

    def detach(self) -> int:
        """Hands the reference over to the caller."""
        address, self._as_parameter_ = self._as_parameter_, 0
        return address

    def __del__(self) -> None:
        address = getattr(self, "_as_parameter_", None)
        if address:
            self._functions["Release"](address)

    def call(self, method: str, *arguments: Any) -> int:
        """Calls a method; raises for a failing HRESULT and returns the others (S_OK, S_FALSE)."""
        hresult: int = self._functions[method](self._as_parameter_, *arguments)
        if hresult < 0:
            raise failure(hresult, library.take_error_message(), f"{self.interface}::{method}")
        return hresult

    def result(self, method: str, *arguments: Any) -> int:
        """Calls a method and returns its HRESULT, unsigned, whatever it is."""
        hresult: int = self._functions[method](self._as_parameter_, *arguments)
        return hresult & 0xFFFFFFFF

    def call_back(self, method: str, *arguments: Any) -> int:
        """`call` for methods that may call Python code: an exception there becomes the cause of the failure."""
        callback_state.exception = None
        return self.call(method, *arguments)

    def get(self, method: str, kind: Any, *arguments: Any) -> Any:
        """Calls a method whose last parameter points to one value of `kind`; returns the value or the struct."""
        value = kind()
        self.call(method, *arguments, ctypes.byref(value))
        return value.value if hasattr(value, "value") else value

    def text(self, method: str, *arguments: Any) -> Optional[str]:
        """Calls a method whose last parameter receives a borrowed string; None for null."""
        value = ctypes.c_void_p()
        self.call(method, *arguments, ctypes.byref(value))
        return ctypes.wstring_at(value.value) if value.value else None

    def create(self, method: str, interface_name: str, *arguments: Any) -> Reference:
        """Calls a method whose last parameter receives an object; returns the owned reference."""
        made = self.create_or_none(method, interface_name, *arguments)
        if made is None:
            raise WinMLError(E_POINTER, f"{self.interface}::{method} succeeded without giving an object")
        return made

    def create_or_none(self, method: str, interface_name: str, *arguments: Any) -> Optional[Reference]:
        callback_state.exception = None
        out = ctypes.c_void_p()
        self.call(method, *arguments, ctypes.byref(out))
        return Reference(out.value, interface_name) if out.value else None

    def query(self, interface_name: str) -> Reference:
        """The same object by another interface; NotSupportedError when it has none."""
        found = self.try_query(interface_name)
        if found is None:
            raise failure(E_NOINTERFACE, f"this object does not offer {interface_name}", self.interface)
        return found

    def try_query(self, interface_name: str) -> Optional[Reference]:
        out = ctypes.c_void_p()
        call = self._functions["QueryInterface"]
        hresult: int = call(self._as_parameter_, interface(interface_name).iid, ctypes.byref(out))
        if hresult & 0xFFFFFFFF == E_NOINTERFACE:
            return None
        if hresult < 0:
            raise failure(hresult, library.take_error_message(), f"{self.interface}::QueryInterface")
        if not out.value:
            raise WinMLError(E_UNEXPECTED, f"QueryInterface for {interface_name} succeeded without giving an object")
        return Reference(out.value, interface_name)


def create_by_export(export: Any, name: str, interface_name: str, *arguments: Any) -> Reference:
    """Calls an exported factory function whose last parameter receives the object."""
    out = ctypes.c_void_p()
    hresult: int = export(*arguments, ctypes.byref(out))
    if hresult < 0:
        raise failure(hresult, library.take_error_message(), name)
    if not out.value:
        raise WinMLError(E_POINTER, f"{name} succeeded without giving an object")
    return Reference(out.value, interface_name)
