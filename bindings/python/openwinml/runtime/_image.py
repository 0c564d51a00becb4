# Pictures to tensors and back through a target's image factory.
# Used by Runtime.tensor_from_image and its relatives, and by Tensor.to_image_bytes.
"""Pictures: Pillow images, numpy arrays and raw pixels."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Dict, NamedTuple, Optional, Tuple

from .. import _arguments as check
from .._native.buffers import ExportedBuffer
from .._native.interfaces import struct
from .._native.reference import Reference
from .._native.wrapper import NativeInterface, reference_of
from ._context import Context
from ._enums import ImageFormat, TensorChannelOrder, TensorLayout, TensorQuantizationMode
from ._records import ImageTensorOptions, VideoFrameMetadata, check_size
from ._tensor import Tensor, foreign_pointer

_PIXEL_BYTES: Dict[ImageFormat, int] = {ImageFormat.RGBA8: 4, ImageFormat.BGRA8: 4, ImageFormat.GRAY8: 1}

_CHANNELS: Dict[TensorChannelOrder, int] = {
    TensorChannelOrder.UNSPECIFIED: 3, TensorChannelOrder.RGB: 3, TensorChannelOrder.BGR: 3, TensorChannelOrder.GRAY: 1,
    TensorChannelOrder.RGBA: 4, TensorChannelOrder.BGRA: 4,
}  # fmt: skip

_FACTORY = "IWinMLImageTensorFactory"


class Picture(NamedTuple):
    pixels: Any
    width: int
    height: int
    row_pitch: int  # bytes; 0 = rows follow each other
    format: ImageFormat


def picture_of(image: Any, width: Any, height: Any, row_pitch: Any, image_format: Any) -> Picture:
    """Any accepted picture as pixels in memory; raw pixels need their size and format."""
    given = {"width": width, "height": height, "row_pitch": row_pitch, "image_format": image_format}
    named = [name for name, value in given.items() if value is not None]
    if _is_pillow(image):
        if named:
            raise ValueError(f"{named[0]} is for raw pixels; a Pillow image has its own")
        return _from_pillow(image)
    if hasattr(image, "__array_interface__") and not named:
        return _from_array(image)
    if width is None or height is None:
        raise TypeError(
            "image must be a Pillow image, a numpy array [height, width, channels], or bytes with width and height"
        )
    kind = check.member(ImageFormat, ImageFormat.RGBA8 if image_format is None else image_format, "image_format")
    wide, high = check.unsigned(width, "width", least=1), check.unsigned(height, "height", least=1)
    tight = wide * _PIXEL_BYTES[kind]
    pitch = 0 if row_pitch is None else check.unsigned(row_pitch, "row_pitch")
    if pitch and pitch < tight:
        raise ValueError(f"row_pitch is {pitch}; a row of {wide} {kind.name} pixels needs {tight} bytes")
    with ExportedBuffer(image, "image") as buffer:
        needed = (pitch or tight) * (high - 1) + tight
        if buffer.size < needed:
            raise ValueError(f"image has {buffer.size} bytes; {wide} x {high} {kind.name} pixels need {needed}")
    return Picture(image, wide, high, pitch, kind)


def _is_pillow(image: Any) -> bool:
    return hasattr(image, "tobytes") and hasattr(image, "convert") and hasattr(image, "mode") and hasattr(image, "size")


def _from_pillow(image: Any) -> Picture:
    kind, mode = (ImageFormat.GRAY8, "L") if image.mode == "L" else (ImageFormat.RGBA8, "RGBA")
    pixels = (image if image.mode == mode else image.convert(mode)).tobytes()
    return Picture(pixels, image.size[0], image.size[1], 0, kind)


def _from_array(image: Any) -> Picture:
    from . import _elements

    np = _elements.numpy()
    array = np.asarray(image)
    if array.dtype != np.uint8:
        raise TypeError(f"image must be an array of uint8, not {array.dtype}")
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or 0 in array.shape:
        raise ValueError(f"image must have the shape [height, width] or [height, width, 1, 3 or 4], not {array.shape}")
    high, wide, channels = array.shape
    if channels == 3:
        array = np.concatenate([array, np.full((high, wide, 1), 255, np.uint8)], axis=2)
    kind = ImageFormat.GRAY8 if channels == 1 else ImageFormat.RGBA8
    return Picture(np.ascontiguousarray(array), wide, high, 0, kind)


def make_desc(options: Optional[ImageTensorOptions], size: Tuple[int, int]) -> Any:
    """The WINML_IMAGE_TENSOR_DESC of some options for a tensor of that (width, height)."""
    chosen = ImageTensorOptions() if options is None else check.instance(options, ImageTensorOptions, "options")
    desc = struct("WINML_IMAGE_TENSOR_DESC")()
    desc.dataType, desc.channelOrder = chosen.data_type, chosen.channel_order
    desc.layout = chosen.layout or TensorLayout.NCHW
    desc.batchSize, desc.channels = 1, _CHANNELS[chosen.channel_order]
    desc.width, desc.height = chosen.size or size
    desc.resizeMode = chosen.resize_mode
    desc.letterboxValue = chosen.letterbox_value
    desc.normalization.scale, desc.normalization.mean = chosen.normalization.scale, chosen.normalization.mean
    if chosen.quantization is not None and chosen.quantization.mode != TensorQuantizationMode.NONE:
        desc.keep = _quantization(chosen.quantization)
        desc.quantization = ctypes.addressof(desc.keep)
    return desc


def _quantization(quantization: Any) -> Any:
    found = struct("WINML_TENSOR_QUANTIZATION")()
    found.mode = quantization.mode
    values = (ctypes.c_float * 2)(quantization.scale or 0.0, quantization.zero_point or 0.0)
    found.keep = values
    if quantization.scale is not None:
        found.scaleCount, found.scales = 1, ctypes.addressof(values)
    if quantization.zero_point is not None:
        found.zeroPointCount, found.zeroPoints = 1, ctypes.addressof(values) + ctypes.sizeof(ctypes.c_float)
    return found


def create(context: Context, picture: Picture, options: Any, target: Any) -> Tensor:
    desc = make_desc(options, (picture.width, picture.height))
    factory = context.factory(target, _FACTORY)
    with ExportedBuffer(picture.pixels, "image") as buffer:
        arguments = (buffer.address, buffer.size, *picture[1:4], picture.format, ctypes.byref(desc))
        return Tensor._of(factory.create("CreateTensorFromImageMemory", "IWinMLTensor", *arguments), context)


def write(context: Context, destination: Any, picture: Picture, options: Any, target: Any) -> None:
    tensor = reference_of(destination, Tensor, "destination")
    desc = make_desc(options, _tensor_size(destination, options))
    factory = context.factory(target, _FACTORY)
    with ExportedBuffer(picture.pixels, "image") as buffer:
        arguments = (buffer.address, buffer.size, *picture[1:4], picture.format, ctypes.byref(desc), tensor)
        factory.call("WriteTensorFromImageMemory", *arguments)


def read(context: Context, tensor: Any, size: Any, image_format: Any, options: Any, target: Any) -> bytes:
    native = reference_of(tensor, Tensor, "tensor")
    wide, high = check_size(size)
    kind = check.member(ImageFormat, image_format, "image_format")
    desc = make_desc(options, _tensor_size(tensor, options))
    factory = context.factory(target, _FACTORY)
    count = wide * high * _PIXEL_BYTES[kind]
    if count > 1 << 40:
        raise ValueError(f"size {wide} x {high} needs {count} bytes")
    pixels = bytearray(count)
    out = (ctypes.c_ubyte * count).from_buffer(pixels)
    factory.call("WriteImageMemoryFromTensor", native, wide, high, 0, kind, ctypes.byref(desc), out, count)
    return bytes(pixels)


def _tensor_size(tensor: Tensor, options: Optional[ImageTensorOptions]) -> Tuple[int, int]:
    """(width, height) of the picture that a tensor holds by its shape."""
    shape = tensor.desc()[1]
    if len(shape) != 4 or math.prod(shape) == 0 or max(shape) > check.UINT32_MAX:
        raise ValueError(f"a tensor of shape {shape} holds no picture")
    chosen = None if options is None else check.instance(options, ImageTensorOptions, "options")
    interleaved = chosen is not None and chosen.layout == TensorLayout.NHWC
    return (shape[2], shape[1]) if interleaved else (shape[3], shape[2])


# Media Foundation samples: frames of NV12 video. The objects come from another library.


def from_sample(context: Context, sample: Any, options: Any, metadata: Any, target: Any) -> Tensor:
    described = _metadata(metadata)
    desc = make_desc(options, (described.sourceWidth, described.sourceHeight))
    factory = context.factory(target, _FACTORY)
    arguments = (foreign_pointer(sample, "sample"), ctypes.byref(desc), ctypes.byref(described))
    return Tensor._of(factory.create("CreateTensorFromMFSampleNV12", "IWinMLTensor", *arguments), context)


def write_sample(context: Context, destination: Any, sample: Any, options: Any, metadata: Any, target: Any) -> None:
    tensor = reference_of(destination, Tensor, "destination")
    desc = make_desc(options, _tensor_size(destination, options))
    described = _metadata(metadata)
    arguments = (foreign_pointer(sample, "sample"), ctypes.byref(desc), ctypes.byref(described), tensor)
    context.factory(target, _FACTORY).call("WriteTensorFromMFSampleNV12", *arguments)


def to_sample(
    context: Context, tensor: Any, options: Any, metadata: Any, media_type: Any, target: Any
) -> NativeInterface:
    native = reference_of(tensor, Tensor, "tensor")
    desc = make_desc(options, _tensor_size(tensor, options))
    described = None if metadata is None else ctypes.byref(_metadata(metadata))
    kind = None if media_type is None else foreign_pointer(media_type, "media_type")
    factory: Reference = context.factory(target, _FACTORY)
    arguments = (native, ctypes.byref(desc), described, kind)
    return NativeInterface._adopt(factory.create("CreateMFSampleFromTensorNV12", "IUnknown", *arguments))


def _metadata(value: Any) -> Any:
    given = check.instance(value, VideoFrameMetadata, "metadata")
    found = struct("WINML_VIDEO_FRAME_METADATA")()
    found.sourceWidth, found.sourceHeight, found.sourceStride = (
        given.source_width,
        given.source_height,
        given.source_stride,
    )
    found.timestamp100Ns, found.duration100Ns = given.timestamp_100ns or 0, given.duration_100ns or 0
    return found
