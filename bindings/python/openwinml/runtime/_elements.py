# Element types: sizes, the numpy dtype of each, packing of the two four-bit ones.
# Used by _tensor.py and by checks of byte counts.
"""Element types of tensors as numpy and as bytes know them."""

from __future__ import annotations

import functools
import math
import operator
import struct
from typing import Any, Dict, Optional, Sequence

from ._enums import TensorDataType as T

#: Bits of one element.
BITS: Dict[T, int] = {
    T.FLOAT32: 32, T.FLOAT16: 16, T.BFLOAT16: 16, T.INT8: 8, T.UINT8: 8, T.INT16: 16, T.UINT16: 16, T.INT32: 32,
    T.UINT32: 32, T.INT64: 64, T.UINT64: 64, T.FLOAT64: 64, T.BOOL: 8, T.INT4: 4, T.UINT4: 4,
}  # fmt: skip

_STRUCT = {
    T.FLOAT32: "f", T.FLOAT16: "e", T.INT8: "b", T.UINT8: "B", T.INT16: "h", T.UINT16: "H", T.INT32: "i", T.UINT32: "I",
    T.INT64: "q", T.UINT64: "Q", T.FLOAT64: "d",
}  # fmt: skip

_NUMPY = {
    T.FLOAT32: "float32", T.FLOAT16: "float16", T.INT8: "int8", T.UINT8: "uint8", T.INT16: "int16", T.UINT16: "uint16",
    T.INT32: "int32", T.UINT32: "uint32", T.INT64: "int64", T.UINT64: "uint64", T.FLOAT64: "float64", T.BOOL: "bool",
}  # fmt: skip

_BY_NAME = {**{name: kind for kind, name in _NUMPY.items()}, "bfloat16": T.BFLOAT16, "int4": T.INT4, "uint4": T.UINT4}

FLOATS = (T.FLOAT32, T.FLOAT16, T.BFLOAT16, T.FLOAT64)


def byte_size(data_type: T, shape: Sequence[int]) -> int:
    """Bytes of a tensor; two four-bit elements share a byte, and an odd last one has its own."""
    if data_type not in BITS:
        raise ValueError("data_type must not be UNDEFINED: such elements have no size")
    size = (math.prod(shape) * BITS[data_type] + 7) // 8
    if size >= 1 << 63:
        raise ValueError(f"shape {tuple(shape)} needs more bytes than any machine has")
    return size


@functools.cache
def numpy() -> Any:
    try:
        import numpy as module
    except ImportError:
        raise ImportError("this call needs numpy: pip install numpy") from None
    return module


@functools.cache
def _extension_dtype(name: str) -> Optional[Any]:
    """A dtype of the ml_dtypes package, when it is installed."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy().dtype(getattr(ml_dtypes, name))


def type_of_array(array: Any) -> T:
    found = _BY_NAME.get(array.dtype.name)
    if found is None:
        raise TypeError(f"no tensor data type stands for numpy's {array.dtype}")
    return found


def array_of_bytes(data_type: T, shape: Sequence[int], raw: Any) -> Any:
    """The array of a tensor whose bytes are in the uint8 array `raw`, which becomes its storage where possible.

    BFLOAT16, INT4 and UINT4 take the dtypes of the ml_dtypes package; without it the same values come as float32, int8
    and uint8, which hold them exactly.
    """
    np = numpy()
    if data_type in _NUMPY:
        return raw.view(_NUMPY[data_type]).reshape(shape)
    if data_type == T.BFLOAT16:
        wanted = _extension_dtype("bfloat16")
        if wanted is not None:
            return raw.view(np.uint16).view(wanted).reshape(shape)
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    if data_type in (T.INT4, T.UINT4):
        values = np.empty(raw.size * 2, np.uint8)
        values[0::2], values[1::2] = raw & 15, raw >> 4  # the low half comes first
        values = values[: math.prod(shape)]
        if data_type == T.INT4:
            values = ((values ^ 8).astype(np.int8) - 8).astype(np.int8)
        wanted = _extension_dtype(data_type.name.lower())
        return (values if wanted is None else values.astype(wanted)).reshape(shape)
    return raw


def bytes_of_array(data_type: T, array: Any) -> Any:
    """The bytes of an array in the machine's order and C layout, as a uint8 array; the array itself where possible."""
    np = numpy()
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    flat = np.ascontiguousarray(array).reshape(-1)
    if data_type in (T.INT4, T.UINT4):
        values = flat.astype(np.int8).view(np.uint8) & 15
        if values.size % 2:
            values = np.append(values, np.uint8(0))
        return values[0::2] | (values[1::2] << 4)
    return flat.view(np.uint8)


def bytes_of_value(data_type: T, value: Any) -> bytes:
    """One element. ValueError when the type cannot hold the value, TypeError when it is no number of that kind."""
    name = data_type.name
    if isinstance(value, (str, bytes, bytearray, complex)):
        raise TypeError(f"value must be a number, not {type(value).__name__}")
    if data_type == T.BOOL:
        if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
            raise TypeError(f"value must be True or False for a BOOL tensor, not {type(value).__name__}")
        return b"\1" if value else b"\0"
    try:
        number: Any = float(value) if data_type in FLOATS else operator.index(value)
    except TypeError:
        wanted = "a number" if data_type in FLOATS else "an integer"
        raise TypeError(f"value must be {wanted} for {name}, not {type(value).__name__}") from None
    try:
        if data_type == T.BFLOAT16:
            return _bfloat16(number)
        if data_type in (T.INT4, T.UINT4):
            least, limit = (-8, 7) if data_type == T.INT4 else (0, 15)
            if not least <= number <= limit:
                raise OverflowError
            return bytes([(number & 15) * 17])
        return struct.pack("=" + _STRUCT[data_type], number)
    except (struct.error, OverflowError):
        raise ValueError(f"{number} does not fit {name}") from None


def _bfloat16(number: float) -> bytes:
    bits = int.from_bytes(struct.pack("<f", number), "little")
    if math.isnan(number):
        return struct.pack("=H", (bits >> 16) | 0x40)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
    if math.isfinite(number) and (rounded >> 16) & 0x7FFF >= 0x7F80:
        raise OverflowError
    return struct.pack("=H", (rounded >> 16) & 0xFFFF)
