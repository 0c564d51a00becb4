# Pipelines and the builder that makes them from stages and edges.
# Made by Runtime.create_pipeline_builder.
"""PipelineBuilder and Pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from .. import _arguments as check
from .._native.reference import Reference
from .._native.wrapper import NativeObject, reference_of
from ._context import ContextObject
from ._model import Model
from ._processor import ProcessorLike, native_processor
from ._stage import Stage
from ._target import ExecutionTarget

if TYPE_CHECKING:
    from typing import Union

    from ._processor import Processor


class Pipeline(NativeObject):
    """A built graph; inputs and outputs are bound on its stages."""

    def run(self) -> None:
        """Runs every stage once. Other Python threads go on meanwhile."""
        self._native.call_back("Run")

    def reset(self) -> None:
        """Forgets what iterations and sequences kept; bindings stay."""
        self._native.call_back("ResetExecutionState")


class PipelineBuilder(ContextObject):
    """Collects stages and edges; build() once."""

    def add_model_stage(self, model: Model, target: Optional[ExecutionTarget] = None, name: str = "") -> Stage:
        """A stage that runs `model`; without a target the library places it."""
        return self._add("AddModelStage", reference_of(model, Model, "model"), target, name)

    def add_processor_stage(
        self,
        processor: "Union[Processor, ProcessorLike]",
        target: Optional[ExecutionTarget] = None,
        name: str = "",
    ) -> Stage:
        """A stage that runs a native processor, or any object with inputs(), outputs() and execute(tensors)."""
        return self._add("AddProcessorStage", native_processor(processor, self._context), target, name)

    def connect(self, source: Stage, source_output_index: int, target: Stage, target_input_index: int) -> None:
        self._connect("Connect", source, source_output_index, target, target_input_index)

    def connect_next_iteration(
        self, source: Stage, source_output_index: int, target: Stage, target_input_index: int
    ) -> None:
        """The output of one run becomes the input of the next; the first run takes what is bound."""
        self._connect("ConnectNextIteration", source, source_output_index, target, target_input_index)

    def build(self) -> Pipeline:
        """Checks the graph and prepares every stage. Other Python threads go on meanwhile."""
        return Pipeline._adopt(self._native.create("Build", "IWinMLPipeline"))

    def _add(self, method: str, what: Reference, target: Any, name: Any) -> Stage:
        place = None if target is None else reference_of(target, ExecutionTarget, "target")
        label = check.text(name, "name") or None
        return Stage._of(self._native.create(method, "IWinMLStage", what, place, label), self._context)

    def _connect(self, method: str, source: Any, output: Any, target: Any, entry: Any) -> None:
        self._native.call(
            method,
            reference_of(source, Stage, "source"),
            check.unsigned(output, "source_output_index"),
            reference_of(target, Stage, "target"),
            check.unsigned(entry, "target_input_index"),
        )
