# Which pipelines, stages and tensors a text session uses.
# Made by Tasks.create_text_generation_configuration, used up by TextGenerationTask.create_session.
"""TextGenerationConfiguration."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple

from .. import _arguments as check
from .._native.errors import WinMLError
from .._native.interfaces import struct
from .._native.reference import Reference
from .._native.wrapper import reference_of
from ..runtime import ExecutionTarget, Pipeline, Stage, Tensor, Tokenizer
from ..runtime._context import ContextObject
from ._enums import (
    TextGenerationConfigurationMode,
    TextGenerationDecodeInputMode,
    TextGenerationOutputKind,
    TextGenerationPipelinePhase,
    TextGenerationSpeculativeMethod,
)
from ._records import TextGenerationPhaseBinding

_E_NOT_VALID_STATE = 0x8007139F
_Phase = TextGenerationPipelinePhase
_Binding = Tuple[TextGenerationPipelinePhase, Stage, int, Tensor]


class TextGenerationConfiguration(ContextObject):
    """Collects the parts of a composition. The configure methods set all of one kind at once."""

    def set_pipeline(self, phase: TextGenerationPipelinePhase, pipeline: Pipeline) -> None:
        self._native.call("SetPipeline", _phase(phase), reference_of(pipeline, Pipeline, "pipeline"))

    def set_token_input(self, phase: TextGenerationPipelinePhase, stage: Stage, input_index: int) -> None:
        index = check.unsigned(input_index, "input_index")
        self._native.call("SetTokenInput", _phase(phase), reference_of(stage, Stage, "stage"), index)

    def set_output(
        self, phase: TextGenerationPipelinePhase, stage: Stage, output_index: int, kind: TextGenerationOutputKind
    ) -> None:
        index = check.unsigned(output_index, "output_index")
        holds = check.member(TextGenerationOutputKind, kind, "kind")
        self._native.call("SetOutput", _phase(phase), reference_of(stage, Stage, "stage"), index, holds)

    def set_state_owner_stage(self, stage: Stage) -> None:
        self._native.call("SetStateOwnerStage", reference_of(stage, Stage, "stage"))

    def set_token_target(self, target: ExecutionTarget) -> None:
        self._native.call("SetTokenTarget", reference_of(target, ExecutionTarget, "target"))

    def set_tokenizer(self, tokenizer: Tokenizer) -> None:
        self._native.call("SetTokenizer", reference_of(tokenizer, Tokenizer, "tokenizer"))

    def set_speculative_decoding(self, method: TextGenerationSpeculativeMethod, draft_token_count: int = 0) -> None:
        """Where draft tokens come from, and how many at most are tried at once; 0 leaves that to the library."""
        options = struct("WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS")()
        options.method = check.member(TextGenerationSpeculativeMethod, method, "method")
        options.draftTokenCount = check.unsigned(draft_token_count, "draft_token_count")
        self._speculative.call("SetSpeculativeOptions", ctypes.byref(options))

    def set_draft_pipeline(
        self,
        *,
        pipeline: Pipeline,
        token_input_stage: Stage,
        token_input_index: int,
        output_stage: Stage,
        output_index: int,
        state_owner_stage: Stage,
    ) -> None:
        """The smaller model of the method DRAFT_MODEL."""
        self._speculative.call(
            "SetDraftPipeline",
            reference_of(pipeline, Pipeline, "pipeline"),
            reference_of(token_input_stage, Stage, "token_input_stage"),
            check.unsigned(token_input_index, "token_input_index"),
            reference_of(output_stage, Stage, "output_stage"),
            check.unsigned(output_index, "output_index"),
            reference_of(state_owner_stage, Stage, "state_owner_stage"),
        )

    def configure_unified(
        self,
        *,
        pipeline: Pipeline,
        token_input_stage: Stage,
        token_input_index: int,
        output_stage: Stage,
        output_index: int,
        output_kind: TextGenerationOutputKind,
        state_owner_stage: Stage,
        token_target: ExecutionTarget,
        tokenizer: Optional[Tokenizer] = None,
    ) -> TextGenerationConfiguration:
        """One pipeline for prompt and answer. Without a tokenizer the task's own is used."""
        self._native.call("SetMode", TextGenerationConfigurationMode.UNIFIED)
        self.set_pipeline(_Phase.UNIFIED, pipeline)
        self.set_token_input(_Phase.UNIFIED, token_input_stage, token_input_index)
        self.set_output(_Phase.UNIFIED, output_stage, output_index, output_kind)
        return self._common(state_owner_stage, token_target, tokenizer)

    def configure_prefill_decode(
        self,
        *,
        prefill_pipeline: Pipeline,
        prefill_token_input_stage: Stage,
        prefill_token_input_index: int,
        prefill_output_stage: Stage,
        prefill_output_index: int,
        prefill_output_kind: TextGenerationOutputKind,
        decode_pipeline: Pipeline,
        decode_token_input_stage: Stage,
        decode_token_input_index: int,
        decode_output_stage: Stage,
        decode_output_index: int,
        decode_output_kind: TextGenerationOutputKind,
        state_owner_stage: Stage,
        token_target: ExecutionTarget,
        logical_capacity: int,
        decode_input_mode: TextGenerationDecodeInputMode,
        tokenizer: Optional[Tokenizer] = None,
    ) -> TextGenerationConfiguration:
        """A pipeline for the prompt and one for each further token; the application moves the state between them."""
        capacity = check.unsigned64(logical_capacity, "logical_capacity")
        mode = check.member(TextGenerationDecodeInputMode, decode_input_mode, "decode_input_mode")
        self._native.call("SetMode", TextGenerationConfigurationMode.PREFILL_DECODE)
        self.set_pipeline(_Phase.PREFILL, prefill_pipeline)
        self.set_token_input(_Phase.PREFILL, prefill_token_input_stage, prefill_token_input_index)
        self.set_output(_Phase.PREFILL, prefill_output_stage, prefill_output_index, prefill_output_kind)
        self.set_pipeline(_Phase.DECODE, decode_pipeline)
        self.set_token_input(_Phase.DECODE, decode_token_input_stage, decode_token_input_index)
        self.set_output(_Phase.DECODE, decode_output_stage, decode_output_index, decode_output_kind)
        self._native.call("SetLogicalCapacity", capacity)
        self._native.call("SetDecodeInputMode", mode)
        return self._common(state_owner_stage, token_target, tokenizer)

    def add_output_binding(
        self, phase: TextGenerationPipelinePhase, stage: Stage, output_index: int, tensor: Tensor
    ) -> None:
        """Lets an output land in the caller's tensor."""
        index = check.unsigned(output_index, "output_index")
        native = reference_of(stage, Stage, "stage"), index, reference_of(tensor, Tensor, "tensor")
        self._native.call("AddCallerOutputBinding", _phase(phase), *native)

    def validate(self) -> None:
        """Raises with a sentence when something is missing or does not fit together."""
        self._native.call("Validate")

    @property
    def mode(self) -> TextGenerationConfigurationMode:
        return TextGenerationConfigurationMode(self._native.get("GetMode", ctypes.c_int32))

    def phase(self, phase: TextGenerationPipelinePhase) -> TextGenerationPhaseBinding:
        """What was set for one pipeline; raises when a part of it is missing."""
        number = _phase(phase)
        pipeline = self._native.create_or_none("GetPipeline", "IWinMLPipeline", number)
        token_input, input_index = self._port("GetTokenInput", number)
        output, output_index, kind = self._output(number)
        if pipeline is None or token_input is None or output is None:
            raise WinMLError(_E_NOT_VALID_STATE, f"the {number.name} phase is not set, or not all of it")
        return TextGenerationPhaseBinding(
            Pipeline._adopt(pipeline), self._stage(token_input), input_index, self._stage(output), output_index, kind
        )

    @property
    def pipeline(self) -> Pipeline:
        """Of the UNIFIED phase, as the next five."""
        return self.phase(_Phase.UNIFIED).pipeline

    @property
    def token_input_stage(self) -> Stage:
        return self.phase(_Phase.UNIFIED).token_input_stage

    @property
    def token_input_index(self) -> int:
        return self.phase(_Phase.UNIFIED).token_input_index

    @property
    def output_stage(self) -> Stage:
        return self.phase(_Phase.UNIFIED).output_stage

    @property
    def output_index(self) -> int:
        return self.phase(_Phase.UNIFIED).output_index

    @property
    def output_kind(self) -> TextGenerationOutputKind:
        return self.phase(_Phase.UNIFIED).output_kind

    @property
    def state_owner_stage(self) -> Stage:
        return self._stage(self._required("GetStateOwnerStage", "IWinMLStage", "state owner stage"))

    @property
    def token_target(self) -> ExecutionTarget:
        found = self._required("GetTokenTarget", "IWinMLExecutionTarget", "token target")
        return ExecutionTarget._of(found, self._context)

    @property
    def tokenizer(self) -> Optional[Tokenizer]:
        found = self._native.create_or_none("GetTokenizer", "IWinMLTokenizer")
        return None if found is None else Tokenizer._adopt(found)

    @property
    def decode_input_mode(self) -> Optional[TextGenerationDecodeInputMode]:
        """None for one pipeline."""
        if self.mode == TextGenerationConfigurationMode.UNIFIED:
            return None
        return TextGenerationDecodeInputMode(self._native.get("GetDecodeInputMode", ctypes.c_int32))

    @property
    def logical_capacity(self) -> Optional[int]:
        """None when it was not set."""
        return self._native.get("GetLogicalCapacity", ctypes.c_uint64) or None

    @property
    def output_bindings(self) -> Tuple[_Binding, ...]:
        found = []
        for phase in _Phase:
            for number in range(self._native.get("GetCallerOutputBindingCount", ctypes.c_uint32, phase)):
                stage, index, tensor = ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_void_p()
                self._native.call("GetCallerOutputBinding", phase, number, *map(ctypes.byref, (stage, index, tensor)))
                bound = Tensor._of(Reference(tensor.value or 0, "IWinMLTensor"), self._context)
                found.append((phase, self._stage(Reference(stage.value or 0, "IWinMLStage")), index.value, bound))
        return tuple(found)

    @property
    def _speculative(self) -> Reference:
        return self._interface("IWinMLTextGenerationSpeculativeConfiguration")

    def _common(
        self, state_owner: Stage, target: ExecutionTarget, tokenizer: Optional[Tokenizer]
    ) -> TextGenerationConfiguration:
        self.set_state_owner_stage(state_owner)
        self.set_token_target(target)
        if tokenizer is not None:
            self.set_tokenizer(tokenizer)
        return self

    def _required(self, method: str, interface: str, what: str) -> Reference:
        found = self._native.create_or_none(method, interface)
        if found is None:
            raise WinMLError(_E_NOT_VALID_STATE, f"the {what} is not set")
        return found

    def _stage(self, reference: Reference) -> Stage:
        return Stage._of(reference, self._context)

    def _port(self, method: str, *arguments: Any) -> Tuple[Optional[Reference], int]:
        stage, index = ctypes.c_void_p(), ctypes.c_uint32()
        self._native.call(method, *arguments, ctypes.byref(stage), ctypes.byref(index))
        return Reference(stage.value, "IWinMLStage") if stage.value else None, index.value

    def _output(self, phase: int) -> Tuple[Optional[Reference], int, TextGenerationOutputKind]:
        stage, index, kind = ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_int32()
        self._native.call("GetOutput", phase, *map(ctypes.byref, (stage, index, kind)))
        found = Reference(stage.value, "IWinMLStage") if stage.value else None
        return found, index.value, TextGenerationOutputKind(kind.value)


def _phase(phase: Any) -> TextGenerationPipelinePhase:
    return check.member(TextGenerationPipelinePhase, phase, "phase")
