# A mapping of external resources as the native reader that a model load takes.
# Used by Runtime.load_model and load_model_from_buffer.
"""Resource maps written in Python."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Mapping, Optional

from .. import _arguments as check
from .._native.buffers import ExportedBuffer
from .._native.com_object import ComObject, write
from .._native.errors import E_BOUNDS, E_POINTER, ERROR_NOT_FOUND, WinMLError
from .._native.interfaces import struct
from .._native.reference import Reference

_LARGEST_ALIGNMENT = 4096


class ResourceMap(ComObject):
    """Serves bytes-like objects in place; they stay exported until the model lets go of the reader."""

    interface_name = "IWinMLResourceMapReader"

    def __init__(self, resources: Mapping[str, Any]) -> None:
        self._keys: List[ctypes.Array[ctypes.c_char]] = []
        self._buffers: Dict[bytes, ExportedBuffer] = {}
        for name, data in resources.items():
            key = check.text(name, "key of resources", empty=False).encode("utf-8")
            self._buffers[key] = ExportedBuffer(data, f"resources[{name!r}]")
            self._keys.append(ctypes.create_string_buffer(key))
        super().__init__()

    def released(self) -> None:
        for buffer in self._buffers.values():
            buffer.release()

    def _find(self, key: int) -> ExportedBuffer:
        if not key:
            raise WinMLError(E_POINTER, "the resource key was null")
        name = ctypes.string_at(key)
        found = self._buffers.get(name)
        if found is None:
            raise WinMLError(ERROR_NOT_FOUND, f"the resource map has no entry {name.decode('utf-8', 'replace')!r}")
        return found

    def GetCount(self, count: int) -> None:
        write(count, ctypes.c_uint32, len(self._keys))

    def GetKey(self, index: int, key: int, length: int) -> None:
        if index >= len(self._keys):
            raise WinMLError(E_BOUNDS, f"the resource map has {len(self._keys)} entries; there is none at {index}")
        write(length, ctypes.c_uint32, len(self._keys[index]) - 1)
        write(key, ctypes.c_void_p, ctypes.addressof(self._keys[index]))

    def GetDescriptor(self, key: int, descriptor: int) -> None:
        found = self._find(key)
        if not descriptor:
            raise WinMLError(E_POINTER, "descriptor was null")
        answer = struct("WINML_RESOURCE_DESCRIPTOR").from_address(descriptor)
        answer.byteSize, answer.offset = found.size, 0
        answer.alignment = min(found.address & -found.address, _LARGEST_ALIGNMENT) or 1

    def GetData(self, key: int, data: int, size: int) -> None:
        found = self._find(key)
        write(data, ctypes.c_void_p, found.address)
        write(size, ctypes.c_uint64, found.size)


def reader(resources: Any) -> Optional[Reference]:
    """The reader for the `resources` argument of a load; None for none."""
    if resources is None:
        return None
    if not isinstance(resources, Mapping):
        raise TypeError(f"resources must be a mapping of names to bytes, not {type(resources).__name__}")
    return ResourceMap(resources).take_reference()
