# Enums of openwinml.runtime; the numbers are those of the binary interface, which a test compares.
# Used by every module of this folder and by applications.
"""Enumerations."""

from __future__ import annotations

import enum


class TensorDataType(enum.IntEnum):
    UNDEFINED = 0
    FLOAT32 = 1
    FLOAT16 = 2
    BFLOAT16 = 3
    INT8 = 4
    UINT8 = 5
    INT16 = 6
    UINT16 = 7
    INT32 = 8
    UINT32 = 9
    INT64 = 10
    UINT64 = 11
    FLOAT64 = 12
    BOOL = 13
    INT4 = 14
    UINT4 = 15


class TensorLayout(enum.IntEnum):
    UNSPECIFIED = 0
    NCHW = 1
    NHWC = 2
    NCT = 16
    NT = 17
    NL = 32


class TensorChannelOrder(enum.IntEnum):
    UNSPECIFIED = 0
    RGB = 1
    BGR = 2
    GRAY = 3
    RGBA = 4
    BGRA = 5


class ImageResizeMode(enum.IntEnum):
    STRETCH = 0
    CENTER_CROP = 1
    LETTERBOX = 2


class TensorAccessMode(enum.IntEnum):
    """COPY takes the bytes; READ and READWRITE stand on the caller's buffer for as long as the tensor lives."""

    COPY = 0
    READ = 1
    READWRITE = 2


class TensorQuantizationMode(enum.IntEnum):
    NONE = 0
    SYMMETRIC_PER_TENSOR = 1
    ZERO_POINT_AFFINE = 2
    RAW = 3


class ImageFormat(enum.IntEnum):
    """Pixel formats of pictures in memory; the numbers are those of DXGI_FORMAT."""

    RGBA8 = 28
    GRAY8 = 61
    BGRA8 = 87


class ExecutionTargetKind(enum.IntEnum):
    CPU = 1
    GPU = 2
    NPU = 3


class ExecutionTargetPreference(enum.IntEnum):
    DEFAULT = 0
    PERFORMANCE = 1
    EFFICIENCY = 2


class CompiledModelForm(enum.IntEnum):
    DEVICE_TARGETED = 0
    DURABLE = 1


class SequenceCapacityDisclosure(enum.IntEnum):
    UNKNOWN = 0
    ARTIFACT_DECLARED = 1


class SpeculativeRollbackBound(enum.IntEnum):
    UNKNOWN = 0
    UNSUPPORTED = 1
    UNBOUNDED = 2
    BOUNDED = 3


class SpeculativeResidency(enum.IntEnum):
    UNKNOWN = 0
    HOST = 1
    DEVICE_WITH_HOST_READBACK = 2


class ConversationParserCapabilities(enum.IntFlag):
    NONE = 0
    CONTENT = 1
    REASONING = 2
    TOOL_CALLS = 4
    PARALLEL_TOOL_CALLS = 8


class ConversationConstraintTriggerType(enum.IntEnum):
    TOKEN = 0
    TEXT = 1
    PATTERN = 2
    FULL_PATTERN = 3


class TokenConstraintStatus(enum.IntEnum):
    ACTIVE = 0
    COMPLETED = 1
    POISONED = 2


class TokenConstraintStateFlags(enum.IntFlag):
    NONE = 0
    AWAITING_TRIGGER = 1
    CAN_STOP = 2
