# Sound to tensors and back through a target's audio factory.
# Used by Runtime.tensor_from_audio and audio_bytes_from_tensor, and by Tensor.to_audio_bytes.
"""Sound: raw interleaved samples and numpy arrays."""

from __future__ import annotations

import ctypes
import math
import struct as packing
from typing import Any, Dict, Tuple

from .. import _arguments as check
from .._native.buffers import ExportedBuffer
from .._native.interfaces import struct
from .._native.wrapper import reference_of
from ._context import Context
from ._enums import TensorLayout
from ._records import AudioTensorOptions
from ._tensor import Tensor

#: Format tag of WAVEFORMATEX (1 integer, 3 float) and bits of a sample.
_FORMATS: Dict[str, Tuple[int, int]] = {"int16": (1, 16), "float32": (3, 32)}

_FACTORY = "IWinMLAudioTensorFactory"


def _wave_format(sample_format: Any, rate: int, channels: int) -> bytes:
    name = check.text(sample_format, "sample_format")
    if name not in _FORMATS:
        raise ValueError(f"sample_format must be one of {', '.join(sorted(_FORMATS))}, not {name!r}")
    tag, bits = _FORMATS[name]
    frame = channels * bits // 8
    if rate * frame > check.UINT32_MAX:
        raise ValueError(f"sample_rate {rate} with {channels} channels is more than a wave format can say")
    return packing.pack("<HHIIHHH", tag, channels, rate, rate * frame, frame, bits, 0)


def create(
    context: Context, samples: Any, sample_rate: Any, channels: Any, sample_format: Any, options: Any, target: Any
) -> Tensor:
    chosen = AudioTensorOptions() if options is None else check.instance(options, AudioTensorOptions, "options")
    rate = check.unsigned(sample_rate, "sample_rate", least=1)
    data, count, name = _samples(samples, channels, sample_format)
    wave = _wave_format(name, rate, count)
    desc = struct("WINML_AUDIO_TENSOR_DESC")()
    desc.dataType, desc.sampleRate, desc.channels = chosen.data_type, rate, chosen.channels or count
    desc.windowFrames, desc.hopFrames = chosen.window_frames, chosen.hop_frames
    desc.layout = chosen.layout or (TensorLayout.NT if count == 1 else TensorLayout.NCT)
    factory = context.factory(target, _FACTORY)
    with ExportedBuffer(data, "samples") as buffer:
        arguments = (buffer.address or 1, buffer.size, wave, len(wave), ctypes.byref(desc))
        return Tensor._of(factory.create("CreateTensorFromPcm", "IWinMLTensor", *arguments), context)


def _samples(samples: Any, channels: Any, sample_format: Any) -> Tuple[Any, int, Any]:
    """Interleaved samples, their channel count and the name of their format."""
    count = None if channels is None else check.unsigned(channels, "channels", 65535, least=1)
    if not hasattr(samples, "__array_interface__"):
        return samples, count or 1, "float32" if sample_format is None else sample_format
    from . import _elements

    np = _elements.numpy()
    array = np.asarray(samples)
    name = array.dtype.name
    if name not in _FORMATS or (sample_format is not None and sample_format != name):
        wanted = " or ".join(sorted(_FORMATS)) if sample_format is None else repr(sample_format)
        raise TypeError(f"samples must be an array of {wanted}, not {name}")
    if array.ndim == 1:
        found = count or 1
    elif array.ndim == 2:
        found = array.shape[1]
        if count is not None and count != found:
            raise ValueError(f"channels is {count} and samples has the shape {array.shape}")
    else:
        raise ValueError(f"samples must have the shape [frames] or [frames, channels], not {array.shape}")
    return np.ascontiguousarray(array), check.unsigned(found, "channels", 65535, least=1), name


def read(context: Context, tensor: Any, sample_rate: Any, channels: Any, sample_format: Any, target: Any) -> bytes:
    native = reference_of(tensor, Tensor, "tensor")
    rate = check.unsigned(sample_rate, "sample_rate", least=1)
    count = check.unsigned(channels, "channels", 65535, least=1)
    wave = _wave_format(sample_format, rate, count)
    elements = math.prod(tensor.desc()[1])
    if elements % count:
        raise ValueError(f"a tensor of {elements} values has no whole number of frames for {count} channels")
    size = elements * _FORMATS[sample_format][1] // 8
    data = bytearray(size)
    out = (ctypes.c_ubyte * size).from_buffer(data) if size else None
    context.factory(target, _FACTORY).call("WriteTensorToPcm", native, wave, len(wave), out, size)
    return bytes(data)
