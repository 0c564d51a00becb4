# What stages with a sequence state offer: capacity, position, rewinding, speculative steps, media segments.
# Base of Stage in _stage.py.
"""Sequence state of a stage."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, Tuple, cast

from .. import _arguments as check
from .._native.errors import ERROR_INSUFFICIENT_BUFFER, failure
from .._native.interfaces import struct
from .._native.library import take_error_message
from .._native.reference import Reference
from .._native.wrapper import NativeObject
from ._enums import SequenceCapacityDisclosure, SpeculativeResidency, SpeculativeRollbackBound, TensorDataType
from ._records import SegmentedSequenceCapabilities, SpeculativeCapabilities

_INT32_MAX = (1 << 31) - 1
_FIRST_GUESS = 1 << 17  # logits of one position; more than most vocabularies
_LARGEST_GUESS = 1 << 24


class SequenceStage(NativeObject):
    @property
    def _state(self) -> Reference:
        return self._interface("IWinMLStatefulStage")

    @property
    def _options(self) -> Reference:
        return self._interface("IWinMLStatefulStageOptions")

    @property
    def _segmented(self) -> Reference:
        return self._interface("IWinMLSegmentedSequenceStage")

    # Before the build.

    def set_sequence_capacity_hint(self, capacity: int) -> None:
        """How many positions the sequence shall hold; 0 leaves it to the model."""
        self._options.call("SetSequenceCapacityHint", check.unsigned64(capacity, "capacity"))

    @property
    def sequence_capacity_hint(self) -> int:
        return int(self._options.get("GetSequenceCapacityHint", ctypes.c_uint64))

    def clear_sequence_capacity_hint(self) -> None:
        self._options.call("SetSequenceCapacityHint", 0)

    @property
    def draft_token_limit_hint(self) -> int:
        """Most draft tokens that one verifying step will hold; 0 means no speculative decoding."""
        return int(self._options.get("GetDraftTokenLimitHint", ctypes.c_uint32))

    @draft_token_limit_hint.setter
    def draft_token_limit_hint(self, count: int) -> None:
        self._options.call("SetDraftTokenLimitHint", check.unsigned(count, "draft_token_limit_hint"))

    @property
    def model_draft_predictor_enabled(self) -> bool:
        return bool(self._options.get("GetModelDraftPredictorEnabled", ctypes.c_int32))

    @model_draft_predictor_enabled.setter
    def model_draft_predictor_enabled(self, enabled: bool) -> None:
        value = check.flag(enabled, "model_draft_predictor_enabled")
        self._options.call("SetModelDraftPredictorEnabled", value)

    @property
    def draft_predictor_path(self) -> Optional[str]:
        """A companion draft model for this one; None for none."""
        return self._options.text("GetDraftPredictorPath") or None

    @draft_predictor_path.setter
    def draft_predictor_path(self, path: Optional[str]) -> None:
        text = None if path is None else check.path(path, "draft_predictor_path")
        self._options.call("SetDraftPredictorPath", text)

    @property
    def caller_owns_state_tensors(self) -> bool:
        return bool(self._options.get("GetCallerOwnsStateTensors", ctypes.c_int32))

    @caller_owns_state_tensors.setter
    def caller_owns_state_tensors(self, value: bool) -> None:
        self._options.call("SetCallerOwnsStateTensors", check.flag(value, "caller_owns_state_tensors"))

    def add_state_tensor_pair(self, input_index: int, output_index: int) -> None:
        """Declares that the output of one run is the input of the next."""
        pair = check.unsigned(input_index, "input_index"), check.unsigned(output_index, "output_index")
        self._options.call("AddStateTensorPair", *pair)

    def clear_state_tensor_pairs(self) -> None:
        self._options.call("ClearStateTensorPairs")

    @property
    def state_tensor_pairs(self) -> Tuple[Tuple[int, int], ...]:
        found = []
        for index in range(self._options.get("GetStateTensorPairCount", ctypes.c_uint32)):
            entry, output = ctypes.c_uint32(), ctypes.c_uint32()
            self._options.call("GetStateTensorPair", index, ctypes.byref(entry), ctypes.byref(output))
            found.append((entry.value, output.value))
        return tuple(found)

    # After the build.

    def set_sequence_capacity(self, capacity: int) -> None:
        """Asks for another capacity; a sequence that has begun is reset. NotSupportedError where it is fixed."""
        self._state.call("SetSequenceCapacity", check.unsigned64(capacity, "capacity"))

    @property
    def sequence_capacity(self) -> int:
        return int(self._state.get("GetSequenceCapacity", ctypes.c_uint64))

    @property
    def declared_sequence_capacity(self) -> Optional[int]:
        """The capacity that the model's file names; None when it names none."""
        disclosure, capacity = ctypes.c_int32(), ctypes.c_uint64()
        self._state.call("GetDeclaredSequenceCapacity", ctypes.byref(disclosure), ctypes.byref(capacity))
        declared = SequenceCapacityDisclosure(disclosure.value) == SequenceCapacityDisclosure.ARTIFACT_DECLARED
        return capacity.value if declared else None

    @property
    def sequence_position(self) -> int:
        return int(self._state.get("GetSequencePosition", ctypes.c_uint64))

    def rewind(self, position: int) -> None:
        """Drops everything from `position` on."""
        self._state.call("RewindTo", check.unsigned64(position, "position"))

    @property
    def speculative_capabilities(self) -> SpeculativeCapabilities:
        found = self._state.get("GetSpeculativeCapabilities", struct("WINML_SPECULATIVE_CAPABILITIES"))
        return SpeculativeCapabilities(
            found.maxProposedStepWidth,
            found.maxLogitRowsPerStep,
            SpeculativeRollbackBound(found.rollbackBound),
            found.maxRollbackDepth,
            SpeculativeResidency(found.residency),
            found.maxDraftTokens,
        )

    def step_all_positions(self, tokens: Sequence[int]) -> memoryview:
        """Appends tokens and returns one row of logits for each, as a memoryview of floats [token, vocabulary].

        commit_accepted_prefix() decides how many of them stay.
        """
        ids = check.integers(tokens, "tokens", _INT32_MAX, -_INT32_MAX - 1)
        if not ids:
            raise ValueError("tokens must not be empty")
        native, array = self._state, (ctypes.c_int32 * len(ids))(*ids)
        rows, stride = ctypes.c_uint32(), ctypes.c_uint32()
        width = self._logit_width()
        while True:
            storage = bytearray(len(ids) * width * 4)
            logits = (ctypes.c_float * (len(ids) * width)).from_buffer(storage)
            out = ctypes.byref(rows), ctypes.byref(stride)
            code = native.result("StepAllPositions", array, len(ids), logits, len(logits), *out)
            if code != ERROR_INSUFFICIENT_BUFFER or width >= _LARGEST_GUESS:
                break
            width *= 4  # the position is unchanged, so the step can be made again
        if code & 0x80000000:
            raise failure(code, take_error_message(), "IWinMLStatefulStage::StepAllPositions")
        view: Any = memoryview(storage)[: rows.value * stride.value * 4]
        return cast(memoryview, view.cast("f", (rows.value, stride.value)))

    def _logit_width(self) -> int:
        """The last extent of output 0, where the built stage tells it."""
        desc = struct("WINML_TENSOR_DESC")()
        code = self._interface("IWinMLStageSchema").result("GetOutputTensorDesc", 0, ctypes.byref(desc))
        if code == 0 and desc.dimensionCount:
            extent = (ctypes.c_uint64 * desc.dimensionCount).from_address(desc.dimensions)[desc.dimensionCount - 1]
            if 0 < extent <= _LARGEST_GUESS:
                return int(extent)
        return _FIRST_GUESS

    def commit_accepted_prefix(self, accepted_count: int) -> int:
        """Keeps the first tokens of the last step_all_positions(), drops the others, returns the position."""
        count = check.unsigned(accepted_count, "accepted_count")
        return int(self._state.get("CommitAcceptedPrefix", ctypes.c_uint64, count))

    def propose_draft_tokens(self, pending_token: int, max_token_count: int) -> List[int]:
        """What the draft predictor expects after `pending_token`; may be fewer, or none."""
        pending = check.integer(pending_token, "pending_token", -_INT32_MAX - 1, _INT32_MAX)
        limit = check.unsigned(max_token_count, "max_token_count", 1 << 20)
        tokens, count = (ctypes.c_int32 * limit)(), ctypes.c_uint32()
        self._state.call("ProposeDraftTokens", pending, limit, tokens, ctypes.byref(count))
        return tokens[: min(count.value, limit)]

    @property
    def segmented_capabilities(self) -> SegmentedSequenceCapabilities:
        found = self._segmented.get("GetCapabilities", struct("WINML_SEGMENTED_SEQUENCE_CAPABILITIES"))
        return SegmentedSequenceCapabilities(
            bool(found.supportsEncoderFromFile),
            bool(found.supportsEncoderFromPipeline),
            bool(found.supportsEmbeddingInput),
            bool(found.hasEmbeddingShape),
            found.embeddingLength,
            TensorDataType(found.embeddingDataType),
        )

    @property
    def embedding_length(self) -> int:
        return int(self._segmented.get("GetEmbeddingLength", ctypes.c_uint32))

    @property
    def embedding_data_type(self) -> TensorDataType:
        return TensorDataType(self._segmented.get("GetEmbeddingDataType", ctypes.c_int32))
