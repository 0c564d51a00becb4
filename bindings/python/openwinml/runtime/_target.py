# Execution targets: where a stage runs and where its tensors live.
# Made by Runtime; named in every call that places something.
"""ExecutionTarget."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional

from ._context import ContextObject
from ._enums import CompiledModelForm, ExecutionTargetKind

if TYPE_CHECKING:
    from ._compiler import ModelCompileOptions, ModelCompiler
    from ._model import Model


class ExecutionTarget(ContextObject):
    @property
    def kind(self) -> ExecutionTargetKind:
        return ExecutionTargetKind(self._native.get("GetKind", ctypes.c_int32))

    def model_compiler(self) -> ModelCompiler:
        """The compiler for this target; NotSupportedError when it has none."""
        from ._compiler import ModelCompiler

        return ModelCompiler._adopt(self._native.query("IWinMLModelCompiler"))

    def compile_to_file(
        self,
        model: Model,
        artifact_path: str,
        external_weights_path: Optional[str] = None,
        form: Optional[CompiledModelForm] = None,
        options: Optional[ModelCompileOptions] = None,
        **device_lowering: Any,
    ) -> None:
        with self.model_compiler() as compiler:
            compiler.compile_to_file(model, artifact_path, external_weights_path, form, options, **device_lowering)
