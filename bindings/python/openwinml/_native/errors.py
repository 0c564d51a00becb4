# Exceptions of the package and the one place that makes them from an HRESULT.
# Raised by _native/reference.py; caught by applications.
"""Errors that carry an HRESULT and the native sentence."""

from __future__ import annotations

import threading
from typing import Any, Optional, Tuple

E_POINTER = 0x80004003
E_NOINTERFACE = 0x80004002
E_FAIL = 0x80004005
E_UNEXPECTED = 0x8000FFFF
E_OUTOFMEMORY = 0x8007000E
E_INVALIDARG = 0x80070057
E_BOUNDS = 0x8000000B
E_CLOSED = 0x80000013
ERROR_NOT_SUPPORTED = 0x80070032
ERROR_NOT_FOUND = 0x80070490
ERROR_INSUFFICIENT_BUFFER = 0x8007007A

NAMES = {
    E_POINTER: "a required pointer was null",
    E_NOINTERFACE: "the object does not offer this",
    E_FAIL: "unspecified failure",
    E_UNEXPECTED: "unexpected failure",
    E_OUTOFMEMORY: "out of memory",
    E_INVALIDARG: "an argument is not valid",
    E_BOUNDS: "the index is out of range",
    E_CLOSED: "the object is closed",
    0x8007139F: "the object's state does not allow this call",
    0x8001010E: "the object belongs to another thread",
    0x80070002: "the file does not exist",
    0x80070003: "the path does not exist",
    0x80070005: "access is denied",
    0x8007000D: "the data is invalid",
    ERROR_NOT_SUPPORTED: "not supported",
    0x800700AA: "the object is busy",
    0x800700D4: "the tensor is locked",
    ERROR_NOT_FOUND: "not found",
    ERROR_INSUFFICIENT_BUFFER: "the buffer is too small",
    0x80070216: "arithmetic overflow",
}


class WinMLError(OSError):
    """A native call failed: `hresult` says how, `native_message` is the library's own sentence, if it left one."""

    hresult: int
    native_message: Optional[str]

    def __init__(self, hresult: int, native_message: Optional[str] = None, call: str = "") -> None:
        self.hresult = hresult & 0xFFFFFFFF
        self.native_message = native_message
        self._call = call
        said = native_message or NAMES.get(self.hresult, "the call failed")
        where = f"{call}: " if call and not native_message else ""
        super().__init__(f"{where}{said} (0x{self.hresult:08X})")

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.hresult, self.native_message, self._call)


class NotSupportedError(WinMLError):
    """The object, the backend or the platform does not offer what was asked for."""


class ClosedError(WinMLError, ValueError):
    """The object was used after close()."""

    def __init__(self, hresult: int = E_CLOSED, native_message: Optional[str] = None, call: str = "") -> None:
        super().__init__(hresult, native_message, call)


class _CallbackState(threading.local):
    """What went wrong in Python code that the library called on this thread."""

    exception: Optional[BaseException] = None


callback_state = _CallbackState()


def failure(hresult: int, message: Optional[str], call: str) -> BaseException:
    """The exception for a failing HRESULT; an exception of called-back Python code becomes its cause.

    What asks the program to end (KeyboardInterrupt, SystemExit) goes on as it is.
    """
    cause, callback_state.exception = callback_state.exception, None
    if cause is not None and not isinstance(cause, Exception):
        return cause
    unsigned = hresult & 0xFFFFFFFF
    kind = NotSupportedError if unsigned in (E_NOINTERFACE, ERROR_NOT_SUPPORTED) else WinMLError
    error = kind(unsigned, message, call)
    error.__cause__ = cause
    return error
