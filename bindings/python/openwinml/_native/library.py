# Finds and loads the shared libraries, once, at the first call that needs them.
# Used by the other modules of this folder and by the modules that call an exported function.
"""The shared libraries of the package, or of the folder OWML_LIBRARY_DIR."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import Any, Optional

from .. import _onnxruntime
from .._version import VERSION

FOLDER_VARIABLE = "OWML_LIBRARY_DIR"


def folder() -> pathlib.Path:
    """Where the libraries are: OWML_LIBRARY_DIR for a build tree, else this package's own lib folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return pathlib.Path(chosen) if chosen else pathlib.Path(__file__).resolve().parents[1] / "lib"


def _open(name: str) -> ctypes.CDLL:
    major = VERSION.partition(".")[0]
    tried = [folder() / f"lib{name}.so.{major}", folder() / f"lib{name}.so"]
    for path in tried:
        if path.exists():
            return ctypes.CDLL(str(path))
    raise ImportError(
        f"lib{name}.so is not in {folder()}; install the openwinml wheel, "
        f"or point {FOLDER_VARIABLE} at the libraries of a build"
    )


@functools.cache
def runtime() -> ctypes.CDLL:
    _onnxruntime.announce()
    library = _open("winml_runtime")
    library.OwmlGetLastErrorMessage.restype = ctypes.c_size_t
    library.OwmlGetLastErrorMessage.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.SetErrorInfo.argtypes = (ctypes.c_uint32, ctypes.c_void_p)
    library.CoTaskMemFree.restype = None
    library.CoTaskMemFree.argtypes = (ctypes.c_void_p,)
    library.SysAllocStringLen.restype = ctypes.c_void_p
    library.SysAllocStringLen.argtypes = (ctypes.c_wchar_p, ctypes.c_uint32)
    library.OwmlLiveObjectCount.restype = ctypes.c_uint64
    library.OwmlLiveObjectCount.argtypes = ()
    return library


@functools.cache
def tokenizer() -> ctypes.CDLL:
    runtime()
    return _open("winml_tokenizer")


@functools.cache
def tasks() -> ctypes.CDLL:
    runtime()
    return _open("winml_tasks")


def function(library: ctypes.CDLL, name: str, arguments: int) -> Any:
    """An exported function that takes pointers and returns an HRESULT."""
    found = getattr(library, name)
    found.restype = ctypes.c_int32
    found.argtypes = (ctypes.c_void_p,) * arguments
    return found


def take_error_message() -> Optional[str]:
    """The sentence of this thread's last failure; taking it leaves none for a later failure to inherit."""
    library = runtime()
    length = library.OwmlGetLastErrorMessage(None, 0)
    if not length:
        return None
    buffer = ctypes.create_string_buffer(length + 1)
    library.OwmlGetLastErrorMessage(buffer, length + 1)
    library.SetErrorInfo(0, None)
    return buffer.value.decode("utf-8", "replace")


def live_object_count() -> int:
    """Native objects alive in this process; tests end at zero."""
    return int(runtime().OwmlLiveObjectCount())
