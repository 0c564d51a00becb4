# Immutable records of openwinml.runtime: options that go in, facts that come out.
# Used by the modules of this folder and by applications.
"""Records of tensors, stages and targets."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Tuple

from .. import _arguments as check
from ._enums import (
    ImageResizeMode,
    SpeculativeResidency,
    SpeculativeRollbackBound,
    TensorChannelOrder,
    TensorDataType,
    TensorLayout,
    TensorQuantizationMode,
)

Four = Tuple[float, float, float, float]

#: A data type and the extents; a free extent is 2**64 - 1.
TensorDesc = Tuple[TensorDataType, Tuple[int, ...]]


def _set(record: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(record, name, value)


@dataclasses.dataclass(frozen=True)
class SpeculativeCapabilities:
    max_proposed_step_width: int
    max_logit_rows_per_step: int
    rollback_bound: SpeculativeRollbackBound
    max_rollback_depth: int
    residency: SpeculativeResidency
    max_draft_tokens: int = 0

    @property
    def can_verify(self) -> bool:
        """Whether one step can check several positions."""
        return self.max_proposed_step_width > 0 and self.max_logit_rows_per_step > 0


@dataclasses.dataclass(frozen=True)
class SegmentedSequenceCapabilities:
    supports_encoder_from_file: bool
    supports_encoder_from_pipeline: bool
    supports_embedding_input: bool
    has_embedding_shape: bool
    embedding_length: int
    embedding_data_type: TensorDataType


@dataclasses.dataclass(frozen=True)
class TensorNormalization:
    """Each channel of a pixel becomes (x - mean) * scale, with x from 0 to 255."""

    scale: Four
    mean: Four

    def __post_init__(self) -> None:
        _set(self, scale=check.reals(self.scale, "scale", 4), mean=check.reals(self.mean, "mean", 4))

    @staticmethod
    def identity() -> TensorNormalization:
        """Values stay from 0 to 255."""
        return TensorNormalization((1.0,) * 4, (0.0,) * 4)

    @staticmethod
    def unit() -> TensorNormalization:
        """Values become 0 to 1."""
        return TensorNormalization((1.0 / 255.0,) * 4, (0.0,) * 4)

    @staticmethod
    def imagenet() -> TensorNormalization:
        """The usual mean and deviation of ImageNet, for channels in the order R, G, B; alpha becomes 0 to 1."""
        return TensorNormalization(
            (1.0 / 58.395, 1.0 / 57.12, 1.0 / 57.375, 1.0 / 255.0), (123.675, 116.28, 103.53, 0.0)
        )


@dataclasses.dataclass(frozen=True)
class TensorQuantization:
    mode: TensorQuantizationMode
    scale: Optional[float] = None
    zero_point: Optional[float] = None

    def __post_init__(self) -> None:
        _set(self, mode=check.member(TensorQuantizationMode, self.mode, "mode"))
        for name in ("scale", "zero_point"):
            if getattr(self, name) is not None:
                _set(self, **{name: check.real(getattr(self, name), name)})
        if self.scale == 0:
            raise ValueError("scale must not be 0")


@dataclasses.dataclass(frozen=True)
class ImageTensorOptions:
    """How a picture becomes a tensor. `size` is (width, height); None keeps the size of the picture."""

    data_type: TensorDataType = TensorDataType.FLOAT32
    layout: TensorLayout = TensorLayout.NCHW
    channel_order: TensorChannelOrder = TensorChannelOrder.RGB
    size: Optional[Tuple[int, int]] = None
    resize_mode: ImageResizeMode = ImageResizeMode.STRETCH
    letterbox_value: Four = (0.0, 0.0, 0.0, 0.0)
    normalization: TensorNormalization = TensorNormalization.identity()
    quantization: Optional[TensorQuantization] = None

    def __post_init__(self) -> None:
        _set(
            self,
            data_type=check.member(TensorDataType, self.data_type, "data_type"),
            layout=check.member(TensorLayout, self.layout, "layout"),
            channel_order=check.member(TensorChannelOrder, self.channel_order, "channel_order"),
            size=None if self.size is None else check_size(self.size),
            resize_mode=check.member(ImageResizeMode, self.resize_mode, "resize_mode"),
            letterbox_value=check.reals(self.letterbox_value, "letterbox_value", 4),
        )
        check.instance(self.normalization, TensorNormalization, "normalization")
        if self.quantization is not None:
            check.instance(self.quantization, TensorQuantization, "quantization")
        if self.layout not in (TensorLayout.NCHW, TensorLayout.NHWC, TensorLayout.UNSPECIFIED):
            raise ValueError(f"layout must be NCHW or NHWC for pictures, not {self.layout.name}")


@dataclasses.dataclass(frozen=True)
class AudioTensorOptions:
    """How samples become a tensor. Zeros take what the samples have; layout None is NT for one channel, else NCT."""

    data_type: TensorDataType = TensorDataType.FLOAT32
    layout: Optional[TensorLayout] = None
    channels: int = 0
    window_frames: int = 0
    hop_frames: int = 0

    def __post_init__(self) -> None:
        _set(
            self,
            data_type=check.member(TensorDataType, self.data_type, "data_type"),
            layout=None if self.layout is None else check.member(TensorLayout, self.layout, "layout"),
            channels=check.unsigned(self.channels, "channels"),
            window_frames=check.unsigned(self.window_frames, "window_frames"),
            hop_frames=check.unsigned(self.hop_frames, "hop_frames"),
        )
        if self.layout not in (None, TensorLayout.NCT, TensorLayout.NT, TensorLayout.UNSPECIFIED):
            raise ValueError(f"layout must be NCT or NT for audio, not {self.layout.name}")


@dataclasses.dataclass(frozen=True)
class TokenTensorOptions:
    data_type: TensorDataType = TensorDataType.INT64

    def __post_init__(self) -> None:
        _set(self, data_type=check.member(TensorDataType, self.data_type, "data_type"))


@dataclasses.dataclass(frozen=True)
class VideoFrameMetadata:
    """Geometry and times of a video frame; a stride of 0 is tightly packed, times count 100 nanoseconds."""

    source_width: int
    source_height: int
    source_stride: int = 0
    timestamp_100ns: Optional[int] = None
    duration_100ns: Optional[int] = None

    def __post_init__(self) -> None:
        for name in ("source_width", "source_height", "source_stride"):
            _set(self, **{name: check.unsigned(getattr(self, name), name)})
        for name in ("timestamp_100ns", "duration_100ns"):
            value = getattr(self, name)
            if value is not None:
                _set(self, **{name: check.integer(value, name, -(1 << 63), (1 << 63) - 1)})


@dataclasses.dataclass(frozen=True)
class D3D12BufferBinding:
    resource: object
    offset_in_bytes: int
    size_in_bytes: int


def check_size(value: Any, name: str = "size") -> Tuple[int, int]:
    """(width, height), neither of them zero."""
    found = check.integers(value, name, least=1)
    if len(found) != 2:
        raise ValueError(f"{name} must be (width, height), not {len(found)} numbers")
    return found[0], found[1]
