# Tensors: their description, their bytes in and out, and the ways to make one from bytes.
# Made by Runtime, by stages and by processors.
"""Tensor."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, SupportsIndex, Tuple

from .. import _arguments as check
from .._native.buffers import ExportedBuffer
from .._native.com_object import Keeper
from .._native.errors import WinMLError
from .._native.interfaces import struct
from .._native.memory import dimensions_of
from .._native.reference import Reference
from .._native.wrapper import NativeInterface, NativeObject, reference_of
from . import _elements as elements
from ._context import Context, ContextObject
from ._enums import ImageFormat, TensorAccessMode, TensorDataType
from ._records import D3D12BufferBinding, ImageTensorOptions, TensorDesc

if TYPE_CHECKING:
    from ._target import ExecutionTarget

_READ = 1
_WRITE = 2
_ALLOW_STAGING = 1


class Tensor(ContextObject):
    """A typed array, on the CPU or on a device."""

    def desc(self) -> TensorDesc:
        """Data type and shape."""
        found = self._native.get("GetDesc", struct("WINML_TENSOR_DESC"))
        return TensorDataType(found.dataType), dimensions_of(found)

    def to_numpy(self) -> Any:
        """A copy as a numpy array.

        BFLOAT16, INT4 and UINT4 need the ml_dtypes package for their own dtypes; without it the same values come as
        float32, int8 and uint8. A tensor on a device is brought to the CPU.
        """
        data_type, shape = self.desc()
        with _Lock(self._native, _READ) as (address, size):
            if data_type != TensorDataType.UNDEFINED and size < elements.byte_size(data_type, shape):
                raise WinMLError(0x8000FFFF, f"the tensor opened {size} bytes for {data_type.name} {shape}")
            if data_type != TensorDataType.UNDEFINED:
                size = elements.byte_size(data_type, shape)
            raw = elements.numpy().empty(size, elements.numpy().uint8)
            ctypes.memmove(raw.ctypes.data, address, size)
        return elements.array_of_bytes(data_type, shape, raw)

    def copy_from(self, source: Tensor) -> None:
        """Takes over the bytes of a tensor of the same byte size."""
        self._interface("IWinMLMutableTensor").call("CopyFrom", reference_of(source, Tensor, "source"))

    def fill(self, value: object) -> None:
        """Writes one value to every element."""
        raw = elements.bytes_of_value(self.desc()[0], value)
        self._interface("IWinMLMutableTensor").call("Fill", raw, len(raw))

    def region(
        self,
        starts: Sequence[SupportsIndex],
        extents: Sequence[SupportsIndex],
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A new tensor with the elements from `starts` on, `extents` of them along each axis."""
        return region(self._context, self, starts, extents, target)

    def d3d12_buffer(self) -> D3D12BufferBinding:
        found = self._interface("IWinMLD3D12Tensor").get("GetBufferBinding", struct("WINML_BUFFER_BINDING"))
        resource = NativeInterface._adopt(Reference(found.resource, "IUnknown"))
        return D3D12BufferBinding(resource, found.offsetInBytes, found.sizeInBytes)

    def token_ids(self, *, target: Optional[ExecutionTarget] = None) -> List[int]:
        """The ids along the last axis of an INT32 or INT64 tensor."""
        from . import _tokens

        return _tokens.read(self._context, self, target)

    def to_image_bytes(
        self,
        *,
        size: Tuple[int, int],
        image_format: ImageFormat = ImageFormat.RGBA8,
        options: Optional[ImageTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
    ) -> bytes:
        """The picture in this tensor, rows tightly packed; `options` say how to read the tensor."""
        from . import _image

        return _image.read(self._context, self, size, image_format, options, target)

    def to_audio_bytes(
        self,
        *,
        sample_rate: int,
        channels: int,
        sample_format: str = "float32",
        target: Optional[ExecutionTarget] = None,
    ) -> bytes:
        """The sound in this tensor as interleaved samples, "float32" or "int16"."""
        from . import _audio

        return _audio.read(self._context, self, sample_rate, channels, sample_format, target)


class _Lock:
    """CPU access to a tensor for the length of a `with` block; gives the address and the byte count."""

    def __init__(self, tensor: Reference, mode: int) -> None:
        self._lock: Optional[Reference] = tensor.create("Lock", "IWinMLTensorDataLock", mode, _ALLOW_STAGING)

    def __enter__(self) -> Tuple[int, int]:
        assert self._lock is not None
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        self._lock.call("GetData", ctypes.byref(data), ctypes.byref(size))
        return data.value or 0, size.value

    def __exit__(self, *_: object) -> None:
        self._lock = None


def make_desc(data_type: TensorDataType, shape: Sequence[int]) -> Any:
    """A WINML_TENSOR_DESC that owns its extents."""
    desc = struct("WINML_TENSOR_DESC")()
    dimensions = (ctypes.c_uint64 * len(shape))(*shape)
    desc.dataType, desc.dimensionCount = data_type, len(shape)
    desc.dimensions = ctypes.addressof(dimensions)
    desc.keep = dimensions
    return desc


def _make(context: Context, target: Any, method: str, *arguments: Any) -> Tensor:
    factory = context.factory(target, "IWinMLRawTensorFactory")
    return Tensor._of(factory.create(method, "IWinMLTensor", *arguments), context)


def create(context: Context, data_type: Any, shape: Any, data: Any, target: Any) -> Tensor:
    kind = check.member(TensorDataType, data_type, "data_type")
    extents = check.shape(shape)
    size = elements.byte_size(kind, extents)
    desc = make_desc(kind, extents)
    if data is None:
        return _make(context, target, "CreateTensor", ctypes.byref(desc), None, 0)
    with ExportedBuffer(data, "data") as buffer:
        _check_size(buffer, "data", kind, extents, size)
        return _make(context, target, "CreateTensor", ctypes.byref(desc), _address(buffer), size)


def from_numpy(context: Context, array: Any, target: Any) -> Tensor:
    np = elements.numpy()
    if not isinstance(array, (np.ndarray, np.generic)):
        if not hasattr(array, "__array__"):
            raise TypeError(f"array must be a numpy array, not {type(array).__name__}")
        array = np.asarray(array)
    kind = elements.type_of_array(array)
    raw = elements.bytes_of_array(kind, array)
    desc = make_desc(kind, array.shape)
    return _make(context, target, "CreateTensor", ctypes.byref(desc), raw.ctypes.data or 1, raw.size)


def from_buffer(context: Context, buffer: Any, data_type: Any, shape: Any, access: Any, target: Any) -> Tensor:
    kind = check.member(TensorDataType, data_type, "data_type")
    mode = check.member(TensorAccessMode, access, "access")
    extents = check.shape(shape)
    size = elements.byte_size(kind, extents)
    exported = ExportedBuffer(buffer, "buffer", writable=mode == TensorAccessMode.READWRITE)
    try:
        _check_size(exported, "buffer", kind, extents, size)
        keeper = None if mode == TensorAccessMode.COPY else Keeper(exported).take_reference()
    except BaseException:
        exported.release()
        raise
    desc = make_desc(kind, extents)
    arguments = (ctypes.byref(desc), _address(exported), size, mode, keeper)
    try:
        return _make(context, target, "CreateTensorFromRawBuffer", *arguments)
    finally:
        if keeper is None:
            exported.release()


def from_d3d12_buffer(
    context: Context, resource: Any, data_type: Any, shape: Any, offset: Any, size: Any, target: Any
) -> Tensor:
    kind = check.member(TensorDataType, data_type, "data_type")
    extents = check.shape(shape)
    binding = struct("WINML_BUFFER_BINDING")()
    binding.offsetInBytes = check.unsigned64(offset, "offset_in_bytes")
    least = elements.byte_size(kind, extents)
    binding.sizeInBytes = least if size is None else check.unsigned64(size, "size_in_bytes")
    pointer = foreign_pointer(resource, "resource")
    binding.resource = pointer if isinstance(pointer, int) else pointer.address
    desc = make_desc(kind, extents)
    return _make(context, target, "CreateTensorFromBuffer", ctypes.byref(desc), ctypes.byref(binding))


def region(context: Context, source: Any, starts: Any, extents: Any, target: Any) -> Tensor:
    first = check.integers(starts, "starts")
    counts = check.integers(extents, "extents")
    if len(first) != len(counts):
        raise ValueError(f"starts has {len(first)} axes and extents {len(counts)}")
    axes = ctypes.c_uint32 * len(first)
    tensor = reference_of(source, Tensor, "source")
    return _make(context, target, "CreateTensorFromRegion", tensor, axes(*first), axes(*counts), len(first))


def foreign_pointer(value: Any, name: str) -> Any:
    """An object of another library: a NativeInterface, a ctypes pointer, or its address."""
    if isinstance(value, NativeObject):
        return value._native
    if isinstance(value, ctypes.c_void_p):
        value = value.value
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an interface pointer, not {type(value).__name__}")
    if value == 0:
        raise ValueError(f"{name} must not be a null pointer")
    return check.unsigned64(value, name)


def _address(buffer: ExportedBuffer) -> int:
    return buffer.address or 1  # an empty buffer may have no address, and null would say "no data"


def _check_size(buffer: ExportedBuffer, name: str, kind: TensorDataType, shape: Tuple[int, ...], size: int) -> None:
    if buffer.size != size:
        raise ValueError(f"{name} has {buffer.size} bytes; {kind.name} {shape} needs {size}")
