# Borrows the memory of a Python buffer, read-only ones included, and keeps it exported until released.
# Used where a tensor or a resource map stands on the caller's memory, and to read bytes without copying them.
"""The memory of bytes-like objects."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

_SIMPLE = 0
_WRITABLE = 1


class _View(ctypes.Structure):
    # Py_buffer, part of Python's stable interface
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = (ctypes.py_object, ctypes.POINTER(_View), ctypes.c_int)
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = (ctypes.POINTER(_View),)
_release_buffer.restype = None


class ExportedBuffer:
    """The contiguous memory of a bytes-like object; the object cannot resize or free it until release()."""

    __slots__ = ("address", "size", "_view")

    def __init__(self, source: Any, name: str, writable: bool = False) -> None:
        self._view: Optional[_View] = None
        view = _View()
        try:
            _get_buffer(source, ctypes.byref(view), _WRITABLE if writable else _SIMPLE)
        except (BufferError, TypeError, ValueError) as error:
            wanted = "a writable, contiguous bytes-like object" if writable else "a contiguous bytes-like object"
            raise TypeError(f"{name} must be {wanted}: {error}") from None
        self._view = view
        self.address: int = view.buf or 0
        self.size: int = view.len

    def release(self) -> None:
        view, self._view = self._view, None
        if view is not None:
            _release_buffer(ctypes.byref(view))

    def __enter__(self) -> "ExportedBuffer":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()
