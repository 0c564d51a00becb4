# Media encoders and the layout of what they produce.
# Made by Stage.create_media_encoder_*; the rows go back through Stage.bind_embedding_segment.
"""MediaEncoder and SequenceSegmentLayout."""

from __future__ import annotations

import ctypes
from typing import Optional, Tuple

from .._native.interfaces import struct
from .._native.memory import dimensions_of
from .._native.reference import Reference
from .._native.wrapper import NativeObject, reference_of
from ._context import ContextObject
from ._enums import TensorDataType
from ._records import TensorDesc
from ._tensor import Tensor


class SequenceSegmentLayout(NativeObject):
    """How many rows, positions and cells one encoded segment takes."""

    @property
    def embedding_row_count(self) -> int:
        return int(self._native.get("GetEmbeddingRowCount", ctypes.c_uint32))

    @property
    def position_count(self) -> int:
        return int(self._native.get("GetPositionCount", ctypes.c_uint32))

    @property
    def sequence_cell_count(self) -> int:
        return int(self._native.get("GetSequenceCellCount", ctypes.c_uint32))


class MediaEncoder(ContextObject):
    @property
    def media_tensor_desc(self) -> TensorDesc:
        """What encode() takes; an extent of 0 or 2**64 - 1 takes any."""
        found = self._native.get("GetMediaTensorDesc", struct("WINML_TENSOR_DESC"))
        return TensorDataType(found.dataType), dimensions_of(found)

    @property
    def embedding_length(self) -> int:
        return int(self._native.get("GetEmbeddingLength", ctypes.c_uint32))

    @property
    def embedding_data_type(self) -> TensorDataType:
        return TensorDataType(self._native.get("GetEmbeddingDataType", ctypes.c_int32))

    def encode(self, media: Tensor, embeddings: Optional[Tensor] = None) -> Tuple[Tensor, SequenceSegmentLayout]:
        """Encodes one medium; the rows are written into `embeddings` where that tensor fits."""
        context = self._context
        source = reference_of(media, Tensor, "media")
        given = None if embeddings is None else reference_of(embeddings, Tensor, "embeddings")
        layout = ctypes.c_void_p()
        rows = ctypes.c_void_p()
        if given is not None:
            # the encoder may release what it finds in the slot, so the slot has a reference of its own
            rows.value = Reference.borrowed(given.address, "IWinMLTensor").detach()
        try:
            self._native.call_back("Encode", source, ctypes.byref(rows), ctypes.byref(layout))
        except BaseException:
            if rows.value:
                Reference(rows.value, "IWinMLTensor")
            raise
        segment = SequenceSegmentLayout._adopt(Reference(layout.value or 0, "IWinMLSequenceSegmentLayout"))
        return Tensor._of(Reference(rows.value or 0, "IWinMLTensor"), context), segment
