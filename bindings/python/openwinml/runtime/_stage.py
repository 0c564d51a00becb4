# Stages: bindings and outputs, options before the build, sequence state after it.
# Made by PipelineBuilder; sequence state is _sequence.py's part of the same class.
"""Stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from .. import _arguments as check
from .._native.wrapper import reference_of
from ._compiler import SymbolicDimensionOverrides
from ._context import ContextObject
from ._media import MediaEncoder, SequenceSegmentLayout
from ._model import StageSchema
from ._ort import OrtNamedBindings, OrtStageDiagnostics, OrtStageOptions
from ._sequence import SequenceStage
from ._target import ExecutionTarget
from ._tensor import Tensor

if TYPE_CHECKING:
    from ._pipeline import Pipeline


class Stage(SequenceStage, ContextObject):
    """A step of a pipeline. Inputs and outputs are numbered from 0."""

    def schema(self) -> StageSchema:
        """Inputs and outputs; the descriptors are known after the build."""
        return StageSchema._adopt(self._native.query("IWinMLStageSchema"))

    def bind_input(self, index: int, tensor: Optional[Tensor]) -> None:
        """Uses `tensor` for every run until another one is bound; None unbinds."""
        native = None if tensor is None else reference_of(tensor, Tensor, "tensor")
        self._native.call("BindInput", check.unsigned(index, "index"), native)

    def bind_output(self, index: int, tensor: Tensor) -> None:
        """Writes the output into `tensor`."""
        self._native.call("BindOutput", check.unsigned(index, "index"), reference_of(tensor, Tensor, "tensor"))

    def request_output(self, index: int) -> None:
        """Keeps the output readable after each run."""
        self._native.call("RequestOutput", check.unsigned(index, "index"))

    def reset_output(self, index: int) -> None:
        self._native.call("ResetOutput", check.unsigned(index, "index"))

    def output(self, index: int) -> Tensor:
        """The tensor of a bound or requested output."""
        found = self._native.create("GetOutput", "IWinMLTensor", check.unsigned(index, "index"))
        return Tensor._of(found, self._context)

    @property
    def execution_target(self) -> ExecutionTarget:
        """Where the stage runs, known after the build."""
        return ExecutionTarget._of(self._native.create("GetExecutionTarget", "IWinMLExecutionTarget"), self._context)

    @property
    def supports_symbolic_dimensions(self) -> bool:
        return self._native.try_query("IWinMLOnnxSymbolicDimensionOverrides") is not None

    @property
    def symbolic_dimensions(self) -> SymbolicDimensionOverrides:
        """Extents for the named dimensions of an ONNX model, to be set before the build."""
        return SymbolicDimensionOverrides(self._interface("IWinMLOnnxSymbolicDimensionOverrides"))

    def ort_bindings(self) -> OrtNamedBindings:
        return OrtNamedBindings._of(self._native.query("IWinMLOrtNamedBindings"), self._context)

    def ort_options(self) -> OrtStageOptions:
        return OrtStageOptions._adopt(self._native.query("IWinMLOrtStageOptions"))

    def ort_diagnostics(self) -> OrtStageDiagnostics:
        return OrtStageDiagnostics._adopt(self._native.query("IWinMLOrtStageDiagnostics"))

    def create_media_encoder_from_file(
        self, encoder_path: str, target: Optional[ExecutionTarget] = None
    ) -> MediaEncoder:
        place = None if target is None else reference_of(target, ExecutionTarget, "target")
        path = check.path(encoder_path, "encoder_path")
        made = self._segmented.create("CreateMediaEncoderFromFile", "IWinMLMediaEncoder", path, place)
        return MediaEncoder._of(made, self._context)

    def create_media_encoder_from_pipeline(
        self, pipeline: Pipeline, input_stage: Stage, input_index: int, output_stage: Stage, output_index: int
    ) -> MediaEncoder:
        from ._pipeline import Pipeline

        made = self._segmented.create(
            "CreateMediaEncoderFromPipeline",
            "IWinMLMediaEncoder",
            reference_of(pipeline, Pipeline, "pipeline"),
            reference_of(input_stage, Stage, "input_stage"),
            check.unsigned(input_index, "input_index"),
            reference_of(output_stage, Stage, "output_stage"),
            check.unsigned(output_index, "output_index"),
        )
        return MediaEncoder._of(made, self._context)

    def bind_embedding_segment(self, index: int, embeddings: Tensor, layout: SequenceSegmentLayout) -> None:
        """Feeds encoded media in place of tokens to the next run."""
        rows = reference_of(embeddings, Tensor, "embeddings")
        described = reference_of(layout, SequenceSegmentLayout, "layout")
        self._segmented.call("BindEmbeddingSegment", check.unsigned(index, "index"), rows, described)

    def clear_embedding_segment(self, index: int) -> None:
        self._segmented.call("ClearEmbeddingSegment", check.unsigned(index, "index"))
