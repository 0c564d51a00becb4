# Strings and arrays at the edge: what goes in lives as long as the call, what comes out is copied and freed.
# Used by the public modules.
"""Strings and number arrays of native calls."""

from __future__ import annotations

import ctypes
from typing import Any, List, Sequence

from . import library


def unsigned_array(values: Sequence[int]) -> Any:
    """A UINT32 array for the length of a call; values are already checked."""
    return (ctypes.c_uint32 * len(values))(*values)


def take_unsigned_array(address: Any, count: int) -> List[int]:
    """Copies a UINT32 array that the library allocated for the caller, and frees it."""
    if not address:
        return []
    try:
        return list((ctypes.c_uint32 * count).from_address(address))
    finally:
        library.runtime().CoTaskMemFree(address)


def take_text(address: Any) -> str:
    """Copies a string that the library allocated for the caller, and frees it."""
    if not address:
        return ""
    try:
        return ctypes.wstring_at(address)
    finally:
        library.runtime().CoTaskMemFree(address)


def dimensions_of(desc: Any) -> "tuple[int, ...]":
    """The extents of a WINML_TENSOR_DESC or WINML_TENSOR_SCHEMA_DESC that the library filled."""
    if not desc.dimensionCount:
        return ()
    return tuple((ctypes.c_uint64 * desc.dimensionCount).from_address(desc.dimensions))
