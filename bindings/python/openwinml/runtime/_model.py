# Loaded models and the schemas that they and built stages declare.
# Made by Runtime.load_model; the stage schema by Stage.schema.
"""Model, ModelSchema, StageSchema, OrtModelSchema."""

from __future__ import annotations

import ctypes
from typing import List

from .. import _arguments as check
from .._native.interfaces import struct
from .._native.memory import dimensions_of
from .._native.wrapper import NativeObject
from ._enums import TensorDataType
from ._records import TensorDesc


class Described(NativeObject):
    """What model schemas, stage schemas and processors have in common: numbered inputs and outputs."""

    _desc_struct = "WINML_TENSOR_DESC"

    @property
    def input_count(self) -> int:
        return int(self._native.get("GetInputCount", ctypes.c_uint32))

    @property
    def output_count(self) -> int:
        return int(self._native.get("GetOutputCount", ctypes.c_uint32))

    def input_desc(self, index: int) -> TensorDesc:
        """Data type and shape of an input; a free extent is 2**64 - 1."""
        return self._desc("GetInputTensorDesc", index)

    def output_desc(self, index: int) -> TensorDesc:
        return self._desc("GetOutputTensorDesc", index)

    def inputs(self) -> List[TensorDesc]:
        return [self.input_desc(index) for index in range(self.input_count)]

    def outputs(self) -> List[TensorDesc]:
        return [self.output_desc(index) for index in range(self.output_count)]

    def _desc(self, method: str, index: int) -> TensorDesc:
        found = self._native.get(method, struct(self._desc_struct), check.unsigned(index, "index"))
        return TensorDataType(found.dataType), dimensions_of(found)


class ModelSchema(Described):
    """What a model declares about its inputs and outputs."""

    _desc_struct = "WINML_TENSOR_SCHEMA_DESC"


class StageSchema(ModelSchema):
    """What a stage takes and gives, concrete after the pipeline is built."""

    _desc_struct = "WINML_TENSOR_DESC"


class OrtModelSchema(NativeObject):
    """Names of an ONNX model's inputs and outputs."""

    def input_name(self, index: int) -> str:
        return self._native.text("GetInputName", check.unsigned(index, "index")) or ""

    def output_name(self, index: int) -> str:
        return self._native.text("GetOutputName", check.unsigned(index, "index")) or ""

    def find_input(self, name: str) -> int:
        return int(self._native.get("FindInputIndex", ctypes.c_uint32, check.text(name, "name")))

    def find_output(self, name: str) -> int:
        return int(self._native.get("FindOutputIndex", ctypes.c_uint32, check.text(name, "name")))


class Model(NativeObject):
    """A loaded artifact; a pipeline makes it run."""

    def schema(self) -> ModelSchema:
        return ModelSchema._adopt(self._native.query("IWinMLModelSchema"))

    def ort_schema(self) -> OrtModelSchema:
        """NotSupportedError for models that are not ONNX."""
        return OrtModelSchema._adopt(self._native.query("IWinMLOrtModelSchema"))
